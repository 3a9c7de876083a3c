#include "ops/op.h"

#include "base/limits.h"
#include "base/text.h"
#include "ops/execute.h"
#include "ops/reference_kernels.h"

namespace headway {

std::string TypeSet::text() const {
    if (empty()) return "any";
    std::vector<std::string> words;
    for (int number = 0; number < 32; ++number) {
        const auto type = static_cast<ElementType>(number);
        if (contains(type)) words.emplace_back(to_string(type));
    }
    return join(words, ", ");
}

std::string qualified_name(std::string_view op, std::string_view domain) {
    if (domain.empty() || domain == "ai.onnx") return std::string(op);
    return std::string(domain) + "/" + std::string(op);
}

Op::Op(Fields fields) : fields_(std::move(fields)), name_(qualified_name(fields_.name, fields_.domain)) {
    announced<Op>().push_back(this);
    if (fields_.reference) reference_kernel_ = make_reference_kernel(*this);
}

const Tensor& InferContext::required(size_t input, const char* what) const {
    const Tensor* tensor = constant(input);
    if (tensor == nullptr) throw Unsupported(std::string(what) + " must be known when the model is built");
    return *tensor;
}

std::vector<int64_t> InferContext::required_integers(size_t input, const char* what) const {
    const Tensor& tensor = required(input, what);
    if (is_float(tensor.type())) throw UserError(std::string(what) + " holds no integers");
    return tensor.to_int64();
}

void InferContext::set_output(size_t index, ElementType type, Shape shape) {
    for (int64_t extent : shape)
        if (extent < 0) throw UserError("an extent of output " + std::to_string(index) + " is negative");
    TensorDesc desc{type, std::move(shape), Layout::plain};
    const int64_t bytes = desc.bytes();
    if (bytes > limits().memory)
        throw UserError("output " + std::to_string(index) + " of shape " + desc.shape.text() + " takes " +
                        std::to_string(bytes) + " bytes, more than the memory limit of " +
                        std::to_string(limits().memory));
    if (index < outputs_.size()) outputs_[index] = std::move(desc);
}

const Datum& InterpretContext::datum(size_t index) const {
    if (!has(index)) throw UserError("input " + std::to_string(index) + " is missing");
    return *inputs[index];
}

const Tensor& InterpretContext::tensor(size_t index) const { return tensor_of(datum(index), "input", index); }

const Strings& InterpretContext::strings(size_t index) const {
    const auto* strings = std::get_if<Strings>(&datum(index));
    if (strings == nullptr)
        throw UserError("input " + std::to_string(index) + " is " + std::string(kind_of(datum(index))) +
                        " instead of a tensor of strings");
    return *strings;
}

TensorValues InterpretContext::values(size_t index) const { return values_of(datum(index), "input", index); }

const Sequence& InterpretContext::sequence(size_t index) const {
    const auto* sequence = std::get_if<Sequence>(&datum(index));
    if (sequence == nullptr)
        throw UserError("input " + std::to_string(index) + " is " + std::string(kind_of(datum(index))) +
                        " instead of a sequence");
    return *sequence;
}

const Graph& InterpretContext::subgraph(std::string_view attribute) const {
    for (const Subgraph& subgraph : node.subgraphs)
        if (subgraph.attribute == attribute) return *subgraph.graph;
    throw UserError("has no " + std::string(attribute));
}

const Op& op_of(const Node& node, const Registry<Op>& ops) {
    const std::string name = qualified_name(node.op, node.domain);
    const std::string site = node.origins.empty() ? std::string("?") : escaped(node.origins.front());
    const Op* op = ops.find(name);
    if (op == nullptr) throw Unsupported("node '" + site + "': operator " + escaped(name) + " is not supported");
    if (node.version < op->fields().since.front())
        throw Unsupported("node '" + site + "': " + name + " of opset " + std::to_string(node.version) +
                          " is not supported (oldest handled: " + std::to_string(op->fields().since.front()) + ")");
    return *op;
}

}  // namespace headway
