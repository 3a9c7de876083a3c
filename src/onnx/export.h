// Graph -> ONNX file bytes: reproducers that other runtimes can read. Groups are written as their bodies. Each domain
// gets one operator set, the newest version that a node of it has.
#pragma once

#include <string>

#include "graph/graph.h"

namespace headway {

// UserError when the model would pass protobuf's 2 GiB.
std::string export_onnx(const Graph& graph);

}  // namespace headway
