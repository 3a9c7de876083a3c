// What a study says when it is over, from its log alone: for people (report.md) and for programs (report.json).
#pragma once

#include <string>

#include "tuner/study.h"

namespace headway {

std::string report_json(const Study& study);
std::string report_markdown(const Study& study);

// Both files in the study's folder.
void write_report(const Study& study);

}  // namespace headway
