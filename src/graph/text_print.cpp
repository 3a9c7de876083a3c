#include "graph/text.h"
#include "graph/text_cursor.h"
#include "graph/text_values.h"

namespace headway {
namespace {

constexpr int64_t default_inline_limit = 64;
constexpr int64_t most_inline_beside_table = 8;

std::string name_text(std::string_view name) { return is_bare_name(name) ? std::string(name) : quoted(name); }

std::string dim_text(const Dim& dim) {
    if (dim.known()) return std::to_string(dim.extent);
    if (dim.symbol.empty() || dim.symbol == "?") return "?";
    const bool starts_like_number = dim.symbol[0] == '-' || (dim.symbol[0] >= '0' && dim.symbol[0] <= '9');
    return starts_like_number ? quoted(dim.symbol) : name_text(dim.symbol);
}

std::string type_text(const Value& value) {
    std::string text(to_string(value.type));
    if (value.kind != DeclaredKind::tensor) return std::string(to_string(value.kind)) + " " + text;
    if (!value.dims) return text;
    text += '[';
    for (size_t axis = 0; axis < value.dims->size(); ++axis)
        text += (axis > 0 ? "," : "") + dim_text((*value.dims)[axis]);
    return text + ']';
}

class Printer {
public:
    // Tensors over the limit go to `table` where there is one.
    Printer(const Graph& graph, int64_t inline_limit, std::vector<Tensor>* table, std::string indent)
        : graph_(graph), inline_limit_(inline_limit), table_(table), indent_(std::move(indent)) {}

    std::string print() {
        text_ = "graph {\n";
        for (ValueId id : graph_.inputs) line("input " + declared(id));
        for (ValueId id = 0; id < graph_.value_count(); ++id)
            if (graph_.is_constant(id)) line("const " + declared(id) + " = " + values_text(*graph_.constant(id)));
        for (NodeId id : graph_.topological_order()) line(node_text(graph_.node(id)));
        for (ValueId id : graph_.outputs) line("output " + reference(id));
        return text_ + indent_ + "}";
    }

private:
    void line(const std::string& text) { text_ += indent_ + "  " + text + "\n"; }

    std::string reference(ValueId id) const { return id == no_value ? "_" : "%" + name_text(graph_.value(id).name); }

    std::string declared(ValueId id) const {
        if (id == no_value) return "_";
        const Value& value = graph_.value(id);
        if (value.type == ElementType::undefined && !value.dims) return reference(id);
        return reference(id) + ": " + type_text(value);
    }

    std::string values_text(const Tensor& tensor) const {
        if (table_ == nullptr || tensor.elements() <= inline_limit_) return tensor_values_text(tensor, inline_limit_);
        table_->push_back(tensor);
        return "table(" + std::to_string(table_->size() - 1) + ")";
    }

    std::string nested(const Graph& graph) const {
        return Printer(graph, inline_limit_, table_, indent_ + "  ").print();
    }

    std::string node_text(const Node& node) const {
        std::string text;
        for (ValueId id : node.outputs) text += (text.empty() ? "" : ", ") + declared(id);
        text += text.empty() ? "= " : " = ";
        text += name_text(node.domain.empty() ? node.op : node.domain + "/" + node.op);
        if (node.version != default_version(node.domain, node.op)) text += ":" + std::to_string(node.version);
        text += '(';
        for (size_t i = 0; i < node.inputs.size(); ++i) text += (i > 0 ? ", " : "") + reference(node.inputs[i]);
        text += ')';
        const std::string braced = braced_text(node);
        if (!braced.empty()) text += " {" + braced + "}";
        for (size_t i = 0; i < node.origins.size(); ++i) text += (i == 0 ? " @" : ",") + quoted(node.origins[i]);
        return text;
    }

    std::string braced_text(const Node& node) const {
        std::string text;
        const auto item = [&](const std::string& entry) { text += (text.empty() ? "" : ", ") + entry; };
        for (const auto& [name, value] : node.attributes) item(name_text(name) + "=" + attribute_text(value));
        for (const Subgraph& sub : node.subgraphs) item(name_text(sub.attribute) + "=" + nested(*sub.graph));
        if (node.body) item(nested(*node.body));
        return text;
    }

    template <class T, class F>
    static std::string list_text(const char* empty, const std::vector<T>& values, F print_one) {
        if (values.empty()) return empty;
        std::string text;
        for (const T& value : values) text += (text.empty() ? "[" : ", ") + print_one(value);
        return text + "]";
    }

    std::string attribute_text(const AttributeValue& value) const {
        struct Visitor {
            const Printer& printer;
            std::string operator()(int64_t v) const { return std::to_string(v); }
            std::string operator()(float v) const { return real_text(v); }
            std::string operator()(const std::string& v) const { return quoted(v); }
            std::string operator()(const std::vector<int64_t>& v) const {
                return list_text("[]", v, [](int64_t x) { return std::to_string(x); });
            }
            std::string operator()(const std::vector<float>& v) const { return list_text("floats[]", v, real_text); }
            std::string operator()(const std::vector<std::string>& v) const {
                return list_text("strings[]", v, quoted);
            }
            std::string operator()(const Tensor& v) const {
                return headway::type_text(v.type(), v.shape()) + " " + printer.values_text(v);
            }
            std::string operator()(const Strings& v) const {
                return headway::type_text(ElementType::string, v.shape) + " " +
                       strings_text(v, printer.table_ == nullptr ? printer.inline_limit_ : INT64_MAX);
            }
        };
        return std::visit(Visitor{*this}, value);
    }

    const Graph& graph_;
    int64_t inline_limit_;
    std::vector<Tensor>* table_;
    std::string indent_;
    std::string text_;
};

}  // namespace

int default_version(std::string_view domain, std::string_view op) {
    if (!domain.empty()) return 1;
    return op == "Group" ? 0 : default_opset;
}

std::string print_graph(const Graph& graph) { return print_graph(graph, default_inline_limit); }

std::string print_graph(const Graph& graph, int64_t inline_limit) {
    return Printer(graph, inline_limit, nullptr, "").print() + "\n";
}

std::string print_graph(const Graph& graph, std::vector<Tensor>& table) {
    return Printer(graph, most_inline_beside_table, &table, "").print() + "\n";
}

}  // namespace headway
