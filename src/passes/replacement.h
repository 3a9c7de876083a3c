// The nodes that take the place of one node: all have its origins.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "passes/rewrite.h"

namespace headway {

class Replacement {
public:
    Replacement(PassContext& context, const Node& node) : context_(context), node_(node) {}

    const Node& node() const { return node_; }
    Graph& graph() { return context_.graph; }
    ValueId make(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}) {
        return append(context_, op, std::move(inputs), std::move(attributes), node_.origins);
    }
    ValueId number(double value) { return add_floats(context_.graph, node_.origins.front(), {}, {value}); }
    ValueId integers(const std::vector<int64_t>& values) {
        return add_integers(context_.graph, node_.origins.front() + ".integers", values);
    }
    ValueId reshaped(ValueId value, const std::vector<int64_t>& dims) {
        return make("Reshape", {value, integers(dims)});
    }
    // The last node, which computes the first output.
    void finish(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}) {
        append_as(context_, node_.outputs[0], op, std::move(inputs), std::move(attributes), node_.origins);
    }

private:
    PassContext& context_;
    const Node node_;
};

}  // namespace headway
