#include "workers/openvino/compiled.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace headway::openvino {
namespace {

bool is_static(const PortSpec& port) {
    return port.dims && std::ranges::all_of(*port.dims, [](int64_t dim) { return dim >= 0; });
}

}  // namespace

Caller::Caller(const Api& api, const OvCompiledModel* model, std::vector<size_t> input_order,
               std::span<const PortSpec> outputs, bool asynchronous)
    : api_(api),
      asynchronous_(asynchronous),
      request_(owned(api, api.infer_request_free,
                     [&](OvInferRequest** made) { return api.compiled_model_create_infer_request(model, made); })),
      input_order_(std::move(input_order)) {
    for (size_t k = 0; k < outputs.size(); ++k) {
        outputs_.push_back(is_static(outputs[k]) ? Tensor(outputs[k].type, Shape(*outputs[k].dims)) : Tensor());
        if (!is_static(outputs[k])) continue;
        wrapped_.push_back(wrap(outputs_.back()));
        api.check(api.infer_request_set_output_tensor_by_index(request_.get(), k, wrapped_.back().get()));
    }
}

Handle<OvTensor> Caller::wrap(Tensor& tensor) const {
    std::vector<int64_t> dims = tensor.shape().dims();
    const auto rank = static_cast<int64_t>(dims.size());
    dims.reserve(1);  // OpenVINO wants a pointer for a scalar too
    return owned(api_, api_.tensor_free, [&](OvTensor** made) {
        return api_.tensor_create_from_host_ptr(to_openvino(tensor.type()), OvShape{rank, dims.data()},
                                                tensor.mutable_bytes().data(), made);
    });
}

void Caller::set_inputs(std::span<const Tensor> inputs) {
    HEADWAY_CHECK(inputs.size() == input_order_.size());
    const bool first = inputs_.empty();
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (first) inputs_.emplace_back(inputs[k].type(), inputs[k].shape());
        HEADWAY_CHECK(inputs_[k].type() == inputs[k].type() && inputs_[k].shape() == inputs[k].shape());
        std::ranges::copy(inputs[k].bytes(), inputs_[k].mutable_bytes().begin());
    }
    for (size_t k = 0; first && k < inputs.size(); ++k) {
        wrapped_.push_back(wrap(inputs_[k]));
        api_.check(
            api_.infer_request_set_input_tensor_by_index(request_.get(), input_order_[k], wrapped_.back().get()));
    }
}

void Caller::run() {
    if (!asynchronous_) return api_.check(api_.infer_request_infer(request_.get()));
    api_.check(api_.infer_request_start_async(request_.get()));
    api_.check(api_.infer_request_wait(request_.get()));
}

std::vector<Tensor> Caller::outputs() const {
    std::vector<Tensor> copies;
    for (size_t k = 0; k < outputs_.size(); ++k) copies.push_back(copy_of_output(k));
    return copies;
}

Tensor Caller::copy_of_output(size_t k) const {
    if (outputs_[k].type() != ElementType::undefined) {
        Tensor copy(outputs_[k].type(), outputs_[k].shape());
        std::ranges::copy(outputs_[k].bytes(), copy.mutable_bytes().begin());
        return copy;
    }
    const Handle<OvTensor> tensor = owned(api_, api_.tensor_free, [&](OvTensor** made) {
        return api_.infer_request_get_output_tensor_by_index(request_.get(), k, made);
    });
    OvElementType type = 0;
    api_.check(api_.tensor_get_element_type(tensor.get(), &type));
    OvShape shape{};
    api_.check(api_.tensor_get_shape(tensor.get(), &shape));
    Tensor copy(from_openvino(type), Shape(std::vector<int64_t>(shape.dims, shape.dims + shape.rank)));
    api_.check(api_.shape_free(&shape));
    size_t size = 0;
    void* data = nullptr;
    api_.check(api_.tensor_get_byte_size(tensor.get(), &size));
    HEADWAY_CHECK(size == copy.size_bytes());
    if (size == 0) return copy;
    api_.check(api_.tensor_data(tensor.get(), &data));
    std::memcpy(copy.mutable_bytes().data(), data, size);
    return copy;
}

std::vector<NodeTime> Caller::profile() const {
    OvNodeProfiles profiles{};
    api_.check(api_.infer_request_get_profiling_info(request_.get(), &profiles));
    std::vector<NodeTime> nodes;
    for (const OvNodeProfile& node : std::span(profiles.nodes, profiles.size))
        nodes.push_back({node.node_name, node.node_type, node.exec_type, node.real_time * 1000});
    api_.profiling_info_list_free(&profiles);
    return nodes;
}

CompiledModel::CompiledModel(const Api& api, const CompileRequest& request)
    : api_(api),
      core_(make_core(api)),
      asynchronous_(request.asynchronous),
      compiled_(nullptr, api.compiled_model_free) {
    for (const auto& [name, value] : request.properties) set_property(api, core_.get(), name, value);
    const Handle<OvModel> model =
        reshape(api, read_model(api, core_.get(), request.model), request.inputs, request.static_shapes);
    ports_ = ports_of(api, model.get());
    input_order_ = find_inputs(ports_.inputs, request.inputs);
    compiled_ = owned(api, api.compiled_model_free, [&](OvCompiledModel** made) {
        return api.core_compile_model(core_.get(), model.get(), "CPU", 0, made);
    });
}

std::unique_ptr<Caller> CompiledModel::make_caller() const {
    return std::make_unique<Caller>(api_, compiled_.get(), input_order_, ports_.outputs, asynchronous_);
}

std::string CompiledModel::property(const std::string& name) const {
    try {
        return owned_text(
            api_, [&](char** text) { return api_.compiled_model_get_property(compiled_.get(), name.c_str(), text); });
    } catch (const OvError&) {
        return "";
    }
}

}  // namespace headway::openvino
