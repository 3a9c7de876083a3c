// Several studies beside each other: which knob values won on one model and lost on another.
#pragma once

#include <span>
#include <string>

#include "tuner/study.h"

namespace headway {

std::string comparison_json(std::span<const Study> studies);
std::string comparison_markdown(std::span<const Study> studies);

}  // namespace headway
