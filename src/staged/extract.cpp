#include "staged/extract.h"

#include "base/error.h"
#include "staged/closed_graph.h"

namespace headway {
namespace {

class Extractor {
public:
    explicit Extractor(const Graph& source)
        : source_(source), mapped_(static_cast<size_t>(source.value_count()), no_value) {}

    // The extract's value for one of the source's: made when it is not there yet.
    ValueId read(ValueId id) {
        if (id == no_value || mapped_[static_cast<size_t>(id)] != no_value) return id == no_value ? id : at(id);
        const ValueId copy = copy_value(id);
        if (source_.is_constant(id)) {
            result_.graph.value(copy).constant = *source_.constant(id);
        } else {
            result_.graph.inputs.push_back(copy);
            result_.inputs.push_back(id);
        }
        return copy;
    }

    void add(const Node& node) {
        Node copy = node;
        for (ValueId& input : copy.inputs) input = read(input);
        for (ValueId& output : copy.outputs)
            if (output != no_value) output = copy_value(output);
        result_.graph.add_node(std::move(copy));
    }

    ValueId at(ValueId id) const { return mapped_[static_cast<size_t>(id)]; }
    Extract& result() { return result_; }

private:
    ValueId copy_value(ValueId id) {
        const Value& value = source_.value(id);
        const ValueId copy = result_.graph.add_value(value.name, value.type);
        result_.graph.value(copy).dims = value.dims;
        result_.graph.value(copy).kind = value.kind;
        mapped_[static_cast<size_t>(id)] = copy;
        return copy;
    }

    const Graph& source_;
    std::vector<ValueId> mapped_;
    Extract result_;
};

}  // namespace

Extract extract(const Graph& source, std::span<const NodeId> nodes, std::span<const ValueId> outputs,
                const std::unordered_map<std::string, ValueId>& names) {
    Extractor extractor(source);
    for (NodeId id : nodes) {
        const Node& node = source.node(id);
        for (const std::string& name : captured_names(node))
            if (const auto captured = names.find(name); captured != names.end()) extractor.read(captured->second);
        extractor.add(node);
    }
    for (ValueId id : outputs) {
        HEADWAY_CHECK(extractor.at(id) != no_value);
        extractor.result().graph.outputs.push_back(extractor.at(id));
    }
    return std::move(extractor.result());
}

}  // namespace headway
