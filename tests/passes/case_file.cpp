#include "case_file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "graph/text.h"
#include "tensor/random.h"

namespace headway {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
            paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    return paths;
}

// "key rest" when the line starts with the key.
bool takes(const std::string& line, const std::string& key, std::string& rest) {
    if (line != key && !line.starts_with(key + " ")) return false;
    rest = std::string(trimmed(line.substr(key.size())));
    return true;
}

// Walks two graphs side by side from their outputs.
class Comparison {
public:
    Comparison(const Graph& got, const Graph& wanted) : got_(got), wanted_(wanted) {}

    std::string run() {
        if (names(got_, got_.inputs) != names(wanted_, wanted_.inputs)) return "graph inputs differ";
        if (names(got_, got_.outputs) != names(wanted_, wanted_.outputs)) return "graph outputs differ";
        for (size_t i = 0; i < got_.outputs.size(); ++i) compare(got_.outputs[i], wanted_.outputs[i]);
        if (difference_.empty() && got_.topological_order().size() != wanted_.topological_order().size())
            return "numbers of nodes differ";
        return difference_;
    }

private:
    static std::vector<std::string> names(const Graph& graph, const std::vector<ValueId>& values) {
        std::vector<std::string> result;
        for (ValueId value : values) result.push_back(graph.value(value).name);
        return result;
    }

    void fail(const std::string& what) {
        if (difference_.empty()) difference_ = what;
    }

    void compare(ValueId a, ValueId b) {
        if ((a == no_value) != (b == no_value)) return fail("an absent value");
        if (a == no_value || !difference_.empty()) return;
        const auto [at, fresh] = same_.try_emplace(a, b);
        if (!fresh && !(at->second == b || (got_.is_constant(a) && wanted_.is_constant(b)))) return fail("connections");
        if (!fresh) return;
        const Value& x = got_.value(a);
        const Value& y = wanted_.value(b);
        const std::string where = "at " + x.name + " / " + y.name + ": ";
        if (x.type != y.type || x.shape() != y.shape())
            return fail(where + x.shape().text() + " is not " + y.shape().text());
        if (got_.is_constant(a) != wanted_.is_constant(b)) return fail(where + "one is constant");
        if ((x.producer == no_node) != (y.producer == no_node)) return fail(where + "one has no producer");
        if (x.producer == no_node) {
            if (!got_.is_constant(a) && x.name != y.name) fail(where + "another input");
            return;
        }
        compare_nodes(got_.node(x.producer), wanted_.node(y.producer), where);
    }

    void compare_nodes(const Node& x, const Node& y, const std::string& where) {
        if (x.op != y.op || x.domain != y.domain) return fail(where + x.op + " is not " + y.op);
        if (attributes_text(x) != attributes_text(y))
            return fail(where + x.op + " {" + attributes_text(x) + "} is not {" + attributes_text(y) + "}");
        if (x.body && y.body) {
            const std::string inner = difference(*x.body, *y.body);
            if (!inner.empty()) return fail(where + "in the body: " + inner);
        }
        if (x.inputs.size() != y.inputs.size() || x.outputs.size() != y.outputs.size())
            return fail(where + "numbers of inputs or outputs of " + x.op);
        for (size_t i = 0; i < x.inputs.size(); ++i) compare(x.inputs[i], y.inputs[i]);
    }

    static std::string attributes_text(const Node& node) {
        Graph alone;
        Node copy;
        copy.op = "X";
        copy.attributes = node.attributes;
        copy.origins = {"x"};
        alone.add_node(copy);
        return print_graph(alone);
    }

    const Graph& got_;
    const Graph& wanted_;
    std::map<ValueId, ValueId> same_;
    std::string difference_;
};

}  // namespace

std::vector<PassCase> read_cases(const std::string& path) {
    std::vector<PassCase> cases;
    std::istringstream lines(read_file(path));
    std::string line, rest;
    std::string* graph = nullptr;
    while (std::getline(lines, line)) {
        if (takes(line, "case", rest)) {
            cases.push_back({.file = std::filesystem::path(path).stem().string(), .name = rest});
            graph = nullptr;
            continue;
        }
        if (cases.empty()) continue;
        PassCase& current = cases.back();
        if (takes(line, "pass", rest))
            current.pass = rest;
        else if (takes(line, "route", rest))
            current.route = rest;
        else if (takes(line, "refuses", rest))
            current.refuses = rest;
        else if (takes(line, "before", rest))
            graph = &current.before;
        else if (takes(line, "after", rest)) {
            current.unchanged = rest == "unchanged";
            graph = &current.after;
        } else if (graph)
            *graph += line + "\n";
    }
    return cases;
}

std::vector<PassCase> all_cases() {
    std::vector<PassCase> cases;
    for (const std::string& path : files_in(HEADWAY_TESTS "/passes"))
        for (PassCase& one : read_cases(path)) cases.push_back(std::move(one));
    return cases;
}

Graph bound_graph(const std::string& text, const Registry<Op>& ops) {
    Graph graph = parse_graph(text);
    for (NodeId id : graph.topological_order()) infer_node(graph, id, ops);
    return graph;
}

Graph witness_graph(const std::string& name, const Registry<Op>& ops) {
    return bound_graph(read_file(HEADWAY_TESTS "/graphs/" + name + ".txt"), ops);
}

std::vector<std::string> witness_names() {
    std::vector<std::string> names;
    for (const std::string& path : files_in(HEADWAY_TESTS "/graphs")) {
        const Graph graph = parse_graph(read_file(path));
        const bool open =
            std::ranges::any_of(graph.inputs, [&](ValueId input) { return !graph.value(input).has_static_shape(); });
        if (!open) names.push_back(std::filesystem::path(path).stem().string());
    }
    return names;
}

std::vector<Tensor> inputs_for(const Graph& graph) {
    std::vector<Tensor> tensors;
    uint64_t seed = 100;
    for (ValueId input : graph.inputs)
        tensors.push_back(random_tensor(graph.value(input).type, graph.value(input).shape(), seed++));
    return tensors;
}

std::string difference(const Graph& got, const Graph& wanted) { return Comparison(got, wanted).run(); }

}  // namespace headway
