// One GraphProto -> Graph: names resolved in linear time, sub-graphs included.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"
#include "tensor/tensor_proto.h"

namespace headway {

// What all graphs of one file share while it is read.
struct ImportState {
    const Registry<Op>& ops;
    std::shared_ptr<const void> owner;  // of the file's bytes
    ExternalData& external;
    std::map<std::string, int> opsets;
    std::unordered_set<std::string> fed_inputs;
    int64_t ir_version = 0;
    int64_t budget = 0;                            // see proto::max_items
    std::unordered_set<std::string> origins = {};  // given out
    std::vector<std::string> defaulted_inputs = {};
    // the first operator that is not handled, as an error text, and the names of all of them
    std::string first_unsupported = {};
    std::set<std::string> unsupported = {};
};

Graph import_graph(std::string_view message, ImportState& state);

}  // namespace headway
