#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/checked.h"
#include "graph/limits.h"
#include "graph/text.h"
#include "graph/text_cursor.h"
#include "graph/text_values.h"

namespace headway {
namespace {

// What constants of one text may occupy: a text of a few bytes can ask for any size.
constexpr int64_t constant_budget_bytes = int64_t{1} << 28;

class Parser {
public:
    Parser(std::string_view text, std::span<const Tensor> table) : cursor_(text), table_(table) {}

    Graph parse() {
        Graph graph = parse_block(nullptr, 0);
        if (!cursor_.at_end()) cursor_.fail("text after the graph");
        name_unnamed(graph, "");
        return graph;
    }

private:
    struct Scope {
        Graph graph;
        std::map<std::string, ValueId, std::less<>> names;
        Scope* outer = nullptr;  // whose names may be read; nullptr in the body of a Group
        int depth = 0;
    };

    Graph parse_block(Scope* outer, int depth) {
        if (depth > max_graph_depth) cursor_.fail("graphs are nested too deeply");
        if (!cursor_.accept_word("graph")) cursor_.fail("expected 'graph {'");
        cursor_.expect('{');
        Scope scope;
        scope.outer = outer;
        scope.depth = depth;
        while (!cursor_.accept('}')) parse_line(scope);
        return std::move(scope.graph);
    }

    void parse_line(Scope& scope) {
        if (cursor_.accept_word("input")) {
            scope.graph.inputs.push_back(parse_declared(scope));
        } else if (cursor_.accept_word("const")) {
            parse_constant(scope);
        } else if (cursor_.accept_word("output")) {
            scope.graph.outputs.push_back(parse_reference(scope));
        } else {
            const char c = cursor_.peek();
            if (c != '%' && c != '_' && c != '=') cursor_.fail("expected input, const, output, a node or '}'");
            parse_node(scope);
        }
    }

    // `%name: type`, a new value.
    ValueId parse_declared(Scope& scope) {
        const size_t at = cursor_.position();
        cursor_.expect('%');
        std::string name = cursor_.name("a value name");
        if (name.empty()) cursor_.fail_at(at, "a value needs a name");
        const auto [entry, is_new] = scope.names.emplace(name, scope.graph.value_count());
        if (!is_new) cursor_.fail_at(at, "%" + name + " is defined twice");
        const ValueId id = scope.graph.add_value(std::move(name));
        if (cursor_.accept(':')) parse_type(scope.graph.value(id));
        return id;
    }

    ElementType parse_element_type() {
        const size_t at = cursor_.position();
        const std::string_view word = cursor_.word("an element type");
        const ElementType type = element_type_from_string(word);
        if (type == ElementType::undefined && word != "undefined")
            cursor_.fail_at(at, "unknown element type " + std::string(word));
        return type;
    }

    void parse_type(Value& value) {
        for (const DeclaredKind kind : {DeclaredKind::sequence, DeclaredKind::optional})
            if (cursor_.accept_word(to_string(kind))) value.kind = kind;
        value.type = parse_element_type();
        if (value.kind != DeclaredKind::tensor || !cursor_.accept('[')) return;
        value.dims.emplace();
        while (!cursor_.accept(']')) {
            if (!value.dims->empty()) cursor_.expect(',');
            value.dims->push_back(parse_dim());
        }
    }

    Dim parse_dim() {
        if (cursor_.accept('?')) return {-1, "?"};
        const size_t at = cursor_.position();
        if (cursor_.peek() == '"') return {-1, cursor_.quoted_string()};
        const std::string_view word = cursor_.word("an extent");
        if (word[0] != '-' && (word[0] < '0' || word[0] > '9')) return {-1, std::string(word)};
        const int64_t extent = parse_integer(word, at);
        if (extent < 0) cursor_.fail_at(at, "an extent cannot be negative");
        return {extent, ""};
    }

    int64_t parse_integer(std::string_view text, size_t at) {
        int64_t value = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size())
            cursor_.fail_at(at, std::string(text) + " is not an integer");
        return value;
    }

    float parse_real(std::string_view text, size_t at) {
        float value = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size())
            cursor_.fail_at(at, std::string(text) + " is not a number");
        return value;
    }

    void parse_constant(Scope& scope) {
        const size_t at = cursor_.position();
        const ValueId id = parse_declared(scope);
        Value& value = scope.graph.value(id);
        if (!value.has_static_shape()) cursor_.fail_at(at, "a constant needs a type with a known shape");
        cursor_.expect('=');
        value.constant = read_tensor_values(cursor_, value.type, value.shape(), budget_, table_);
    }

    // `%name` of a value defined above, here or in a graph around this one.
    ValueId parse_reference(Scope& scope) {
        const size_t at = cursor_.position();
        cursor_.expect('%');
        const std::string name = cursor_.name("a value name");
        const ValueId id = resolve(scope, name);
        if (id == no_value) cursor_.fail_at(at, "%" + name + " is not defined above");
        return id;
    }

    // A name from outside becomes a value without producer here and in the graphs between.
    static ValueId resolve(Scope& scope, const std::string& name) {
        if (const auto found = scope.names.find(name); found != scope.names.end()) return found->second;
        const ValueId outside = scope.outer == nullptr ? no_value : resolve(*scope.outer, name);
        if (outside == no_value) return no_value;
        const Value& original = scope.outer->graph.value(outside);
        const ValueId id = scope.graph.add_value(name, original.type);
        scope.graph.value(id).kind = original.kind;
        scope.graph.value(id).dims = original.dims;
        scope.names.emplace(name, id);
        return id;
    }

    void parse_node(Scope& scope) {
        std::vector<std::pair<std::string, Value>> outputs;
        Node node;
        // outputs become values only after the inputs are read: a node cannot read its own result
        std::vector<size_t> positions;
        while (cursor_.peek() != '=') {
            if (!outputs.empty()) cursor_.expect(',');
            positions.push_back(cursor_.position());
            Value value;
            if (!cursor_.accept_word("_")) {
                cursor_.expect('%');
                value.name = cursor_.name("a value name");
                if (value.name.empty()) cursor_.fail_at(positions.back(), "a value needs a name");
                if (cursor_.accept(':')) parse_type(value);
            }
            outputs.emplace_back(value.name, value);
        }
        cursor_.expect('=');
        parse_operator(node);
        parse_inputs(scope, node);
        if (cursor_.accept('{')) parse_braced(scope, node);
        if (cursor_.accept('@')) {
            do node.origins.push_back(cursor_.quoted_string());
            while (cursor_.accept(','));
        }
        for (size_t i = 0; i < outputs.size(); ++i) {
            auto& [name, value] = outputs[i];
            if (name.empty()) {
                node.outputs.push_back(no_value);
                continue;
            }
            if (!scope.names.emplace(name, scope.graph.value_count()).second)
                cursor_.fail_at(positions[i], "%" + name + " is defined twice");
            const ValueId id = scope.graph.add_value(name, value.type);
            scope.graph.value(id).kind = value.kind;
            scope.graph.value(id).dims = value.dims;
            node.outputs.push_back(id);
        }
        if ((node.op == "Group") != (node.body != nullptr)) cursor_.fail("a Group, and only a Group, has a body");
        scope.graph.add_node(std::move(node));
    }

    void parse_operator(Node& node) {
        const size_t at = cursor_.position();
        const bool is_quoted = cursor_.peek() == '"';
        std::string name = cursor_.name("an operator");
        std::string version;
        if (is_quoted) {
            if (cursor_.accept(':')) version = cursor_.word("a version");
        } else if (const size_t colon = name.rfind(':'); colon != std::string::npos) {
            version = name.substr(colon + 1);
            name.resize(colon);
        }
        const size_t slash = name.rfind('/');
        node.domain = slash == std::string::npos ? "" : name.substr(0, slash);
        node.op = slash == std::string::npos ? name : name.substr(slash + 1);
        if (node.op.empty()) cursor_.fail_at(at, "expected an operator");
        const int64_t number = version.empty() ? default_version(node.domain, node.op) : parse_integer(version, at);
        if (number < 0 || number > 1000000) cursor_.fail_at(at, "version out of range");
        node.version = static_cast<int>(number);
    }

    void parse_inputs(Scope& scope, Node& node) {
        cursor_.expect('(');
        while (!cursor_.accept(')')) {
            if (!node.inputs.empty()) cursor_.expect(',');
            node.inputs.push_back(cursor_.accept_word("_") ? no_value : parse_reference(scope));
        }
    }

    void parse_braced(Scope& scope, Node& node) {
        for (bool first = true; !cursor_.accept('}'); first = false) {
            if (!first) cursor_.expect(',');
            const size_t at = cursor_.position();
            if (cursor_.peek_word() == "graph") {
                if (node.body) cursor_.fail("a second body");
                node.body = std::make_shared<Graph>(parse_block(nullptr, scope.depth + 1));
                continue;
            }
            std::string name = cursor_.name("an attribute");
            cursor_.expect('=');
            const bool is_known =
                node.attributes.has(name) ||
                std::ranges::any_of(node.subgraphs, [&](const Subgraph& sub) { return sub.attribute == name; });
            if (is_known) cursor_.fail_at(at, "attribute " + name + " is given twice");
            if (cursor_.peek_word() == "graph")
                node.subgraphs.push_back(
                    {std::move(name), std::make_shared<Graph>(parse_block(&scope, scope.depth + 1))});
            else
                node.attributes.set(std::move(name), parse_attribute());
        }
    }

    AttributeValue parse_attribute() {
        const char first = cursor_.peek();
        if (first == '"') return cursor_.quoted_string();
        if (first == '[') return parse_list();
        const size_t at = cursor_.position();
        const std::string_view word = cursor_.peek_word();
        if (word == "floats" || word == "strings") {
            cursor_.accept_word(word);
            cursor_.expect('[');
            cursor_.expect(']');
            if (word == "floats") return std::vector<float>{};
            return std::vector<std::string>{};
        }
        if (element_type_from_string(word) != ElementType::undefined) {
            Value value;
            parse_type(value);
            if (!value.has_static_shape()) cursor_.fail_at(at, "a tensor needs a known shape");
            if (value.type == ElementType::string) return read_strings(cursor_, value.shape());
            return read_tensor_values(cursor_, value.type, value.shape(), budget_, table_);
        }
        const std::string_view number = cursor_.number();
        if (reads_as_real(number)) return parse_real(number, at);
        return parse_integer(number, at);
    }

    AttributeValue parse_list() {
        cursor_.expect('[');
        std::vector<std::string> texts;
        std::vector<std::pair<size_t, std::string_view>> numbers;
        while (!cursor_.accept(']')) {
            if (!texts.empty() || !numbers.empty()) cursor_.expect(',');
            const size_t at = cursor_.position();
            if (cursor_.peek() == '"')
                texts.push_back(cursor_.quoted_string());
            else
                numbers.emplace_back(at, cursor_.number());
            if (!texts.empty() && !numbers.empty()) cursor_.fail_at(at, "text and numbers in one list");
        }
        if (!texts.empty()) return texts;
        if (std::ranges::any_of(numbers, [](const auto& item) { return reads_as_real(item.second); })) {
            std::vector<float> reals;
            for (const auto& [at, number] : numbers) reals.push_back(parse_real(number, at));
            return reals;
        }
        std::vector<int64_t> integers;
        for (const auto& [at, number] : numbers) integers.push_back(parse_integer(number, at));
        return integers;
    }

    // Gives `Op#k` to nodes without @, after the whole text is read: an outer node's @ comes after its inner graphs.
    static void name_unnamed(Graph& graph, const std::string& prefix) {
        std::map<std::string, int, std::less<>> counts;
        for (NodeId id = 0; id < graph.node_count(); ++id) {
            Node& node = graph.node(id);
            const int index = counts[node.op]++;
            if (node.origins.empty()) node.origins.push_back(prefix + node.op + "#" + std::to_string(index));
            for (Subgraph& sub : node.subgraphs) name_unnamed(*sub.graph, node.origins[0] + "/" + sub.attribute + "/");
            if (node.body) name_unnamed(const_cast<Graph&>(*node.body), node.origins[0] + "/");
        }
    }

    TextCursor cursor_;
    std::span<const Tensor> table_;
    int64_t budget_ = constant_budget_bytes;
};

}  // namespace

Graph parse_graph(std::string_view text) { return Parser(text, {}).parse(); }

Graph parse_graph(std::string_view text, std::span<const Tensor> table) { return Parser(text, table).parse(); }

}  // namespace headway
