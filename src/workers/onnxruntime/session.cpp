#include "workers/onnxruntime/session.h"

#include <xmmintrin.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace headway::ort {
namespace {

// ONNX Runtime sets the caller's treatment of denormals only for the first session of a process. Each call sets what
// its session asks for, as it would be in a process of its own.
class Denormals {
public:
    explicit Denormals(bool flush) : before_(_mm_getcsr()) {
        constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
        const unsigned bits = flush_to_zero | denormals_are_zero;
        _mm_setcsr(flush ? before_ | bits : before_ & ~bits);
    }
    ~Denormals() { _mm_setcsr(before_); }
    Denormals(const Denormals&) = delete;
    Denormals& operator=(const Denormals&) = delete;

private:
    unsigned before_;
};

std::vector<int64_t> read_dims(const TensorInfo* info) {
    size_t rank = 0;
    api().check(api().rank(info, &rank));
    std::vector<int64_t> dims(rank);
    api().check(api().dims(info, dims.data(), rank));
    return dims;
}

PortInfo read_port(const std::string& name, const TypeInfo* type, const char* what) {
    const std::string place = std::string(what) + " " + escaped(name);
    const TensorInfo* info = nullptr;
    api().check(api().as_tensor_info(type, &info));
    if (info == nullptr) throw Unsupported(place + " is no tensor");
    int number = 0;
    api().check(api().element_type(info, &number));
    PortInfo port;
    port.spec.name = name;
    port.spec.type = static_cast<ElementType>(number);
    if (bits_of(port.spec.type) < 8)  // strings, and what ONNX Runtime packs in memory
        throw Unsupported(place + " has the element type " + std::to_string(number) + ", which is not handled");
    port.spec.dims = read_dims(info);
    std::vector<const char*> symbols(port.spec.dims->size());
    api().check(api().symbolic_dims(info, symbols.data(), symbols.size()));
    for (const char* symbol : symbols) port.symbols.emplace_back(symbol != nullptr ? symbol : "");
    return port;
}

Handle<Value> value_on(Tensor& tensor) {
    return api().make_tensor(tensor.mutable_bytes().data(), tensor.size_bytes(), tensor.shape().dims().data(),
                             tensor.shape().rank(), static_cast<int>(tensor.type()));
}

// A copy of its own: aligned, and in memory that the caller would own.
Tensor copy_of(const Tensor& tensor) {
    Tensor copy(tensor.type(), tensor.shape());
    std::ranges::copy(tensor.bytes(), copy.mutable_bytes().begin());
    return copy;
}

Tensor copy_of(Value& value) {
    TensorInfo* raw = nullptr;
    api().check(api().value_tensor_info(&value, &raw));
    const Handle<TensorInfo> info(raw, api().release_tensor_info);
    int number = 0;
    api().check(api().element_type(info.get(), &number));
    void* data = nullptr;
    api().check(api().tensor_data(&value, &data));
    Tensor copy(static_cast<ElementType>(number), Shape(read_dims(info.get())));
    std::copy_n(static_cast<const std::byte*>(data), copy.size_bytes(), copy.mutable_bytes().begin());
    return copy;
}

std::vector<Handle<Value>> take_outputs(const IoBinding& binding) {
    Value** list = nullptr;
    size_t count = 0;
    api().check(api().bound_outputs(&binding, api().allocator(), &list, &count));
    std::vector<Handle<Value>> values;
    for (size_t k = 0; k < count; ++k) values.push_back(api().own(list[k]));
    api().check(api().free_memory(api().allocator(), list));
    return values;
}

}  // namespace

Runner::Runner(const std::string& model, const SessionOptions& options, bool flush_denormals)
    : session_(nullptr, nullptr), flush_denormals_(flush_denormals) {
    const Denormals scope(false);
    session_ = api().make_session(model, options);
    inputs_ = read_ports(false);
    outputs_ = read_ports(true);
}

std::vector<PortInfo> Runner::read_ports(bool outputs) const {
    size_t count = 0;
    api().check((outputs ? api().output_count : api().input_count)(session_.get(), &count));
    std::vector<PortInfo> ports;
    for (size_t k = 0; k < count; ++k) {
        char* name = nullptr;
        api().check((outputs ? api().output_name : api().input_name)(session_.get(), k, api().allocator(), &name));
        TypeInfo* raw = nullptr;
        api().check((outputs ? api().output_type : api().input_type)(session_.get(), k, &raw));
        const Handle<TypeInfo> type(raw, api().release_type);
        ports.push_back(read_port(api().take_text(name), type.get(), outputs ? "output" : "input"));
    }
    return ports;
}

std::vector<std::string> Runner::output_names() const {
    std::vector<std::string> names;
    for (const PortInfo& port : outputs_) names.push_back(port.spec.name);
    return names;
}

void Runner::bind_inputs(IoBinding& binding, std::vector<Tensor>& inputs, std::vector<Handle<Value>>& values) {
    if (inputs.size() != inputs_.size())
        throw UserError("the sample has " + std::to_string(inputs.size()) + " inputs, the model wants " +
                        std::to_string(inputs_.size()));
    for (size_t k = 0; k < inputs.size(); ++k) {
        values.push_back(value_on(inputs[k]));
        api().check(api().bind_input(&binding, inputs_[k].spec.name.c_str(), values.back().get()));
    }
}

std::vector<Tensor> Runner::run(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> copies;
    for (const Tensor& input : inputs) copies.push_back(copy_of(input));
    std::vector<Handle<Value>> values;
    const Handle<IoBinding> binding = api().make_binding(*session_);
    bind_inputs(*binding, copies, values);
    for (const PortInfo& port : outputs_)
        api().check(api().bind_output_to_device(binding.get(), port.spec.name.c_str(), &api().cpu()));
    {
        const Denormals scope(flush_denormals_);
        api().check(api().run_with_binding(session_.get(), nullptr, binding.get()));
    }
    std::vector<Tensor> outputs;
    for (const Handle<Value>& value : take_outputs(*binding)) outputs.push_back(copy_of(*value));
    return outputs;
}

Runner::Stream Runner::make_stream(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
    Stream stream{{}, {}, {}, api().make_binding(*session_)};
    for (const Tensor& input : inputs) stream.inputs.push_back(copy_of(input));
    bind_inputs(*stream.binding, stream.inputs, stream.values);
    for (size_t k = 0; k < outputs.size(); ++k) {
        stream.outputs.emplace_back(outputs[k].type(), outputs[k].shape());
        stream.values.push_back(value_on(stream.outputs.back()));
        api().check(api().bind_output(stream.binding.get(), outputs_[k].spec.name.c_str(), stream.values.back().get()));
    }
    return stream;
}

void Runner::prepare_streams(int count, const std::vector<Tensor>& inputs) {
    if (static_cast<size_t>(count) <= streams_.size()) return;
    const std::vector<Tensor> outputs = run(inputs);
    while (streams_.size() < static_cast<size_t>(count)) streams_.push_back(make_stream(inputs, outputs));
}

void Runner::run_stream(int stream, int64_t iterations) {
    const Denormals scope(flush_denormals_);
    const IoBinding* binding = streams_.at(static_cast<size_t>(stream)).binding.get();
    for (int64_t k = 0; k < iterations; ++k) api().check(api().run_with_binding(session_.get(), nullptr, binding));
}

}  // namespace headway::ort
