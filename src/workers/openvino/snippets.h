// The code with which a program that uses OpenVINO gets the engine of a recipe: only what differs from OpenVINO's
// defaults is set.
#pragma once

#include <vector>

#include "workers/builder.h"
#include "workers/openvino/compiled.h"

namespace headway::openvino {

std::vector<Snippet> make_snippets(const CompileRequest& request);

}  // namespace headway::openvino
