// ONNX file -> Graph. The file is untrusted: every fault is one UserError (Unsupported when the file is sound but
// beyond us) that names the node, value or tensor; nothing is allocated that the file's own length does not bound.
//
// What the graph holds afterwards:
// - Initialisers are constants, as views on the mapped file where their alignment allows. Those that nothing reads are
//   left out. Constant nodes are constants. Strings are not: an initialiser of strings becomes a Constant node.
// - An initialiser that is also declared as an input is a constant too, whatever the IR version: many exporters list
// all
//   weights. From IR 4 on such an input has a default that a caller may replace; name it in `fed_inputs`, and it is an
//   input (the default is dropped). `defaulted_inputs` lists the candidates.
// - Declared types and shapes are kept for inputs and outputs of the model. Of inner values only the element type is
//   kept: their shapes in files are hints, often stale, and are inferred after binding.
// - Nodes stand in file order when that is a legal order, else in the legal order nearest to it.
// - Origins: the node's name, or `Op#k` (the k-th node of that operator in its graph) where the name is empty or
//   repeated; in a sub-graph with `outer/branch/` before it.
// - A sub-graph holds a value of the same name, without producer, for everything that it reads from outside.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "graph/graph.h"
#include "ops/op.h"

namespace headway {

struct ImportOptions {
    std::vector<std::string> fed_inputs;  // inputs with a default that stay inputs
};

struct OnnxModel {
    Graph graph;
    Hash hash;  // as model_hash() gives it
    int64_t ir_version = 0;
    std::string producer;
    std::map<std::string, int> opsets;  // by domain; "" = ai.onnx
    std::vector<std::string> defaulted_inputs;
};

OnnxModel import_onnx(const std::string& path, const Registry<Op>& ops, const ImportOptions& options = {});

}  // namespace headway
