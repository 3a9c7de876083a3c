#include "workers/openvino/model.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "tensor/tensor.h"

namespace headway::openvino {
namespace {

PortSpec describe(const Api& api, const OvPort* port) {
    PortSpec spec;
    spec.name = owned_text(api, [&](char** text) { return api.port_get_any_name(port, text); });
    OvElementType type = 0;
    api.check(api.port_get_element_type(port, &type));
    spec.type = from_openvino(type);
    OvPartialShape shape{};
    api.check(api.port_get_partial_shape(port, &shape));
    if (shape.rank.min == shape.rank.max) {
        spec.dims.emplace();
        for (int64_t axis = 0; axis < shape.rank.max; ++axis)
            spec.dims->push_back(shape.dims[axis].min == shape.dims[axis].max ? shape.dims[axis].max : -1);
    }
    api.partial_shape_free(&shape);
    return spec;
}

template <class Count, class Get>
std::vector<PortSpec> describe_all(const Api& api, Count count, Get get, const OvModel* model) {
    size_t size = 0;
    api.check(count(model, &size));
    std::vector<PortSpec> ports;
    for (size_t k = 0; k < size; ++k) {
        const Handle<OvPort> port =
            owned(api, api.output_const_port_free, [&](OvPort** made) { return get(model, k, made); });
        ports.push_back(describe(api, port.get()));
    }
    return ports;
}

bool has_shape(const PortSpec& port, const std::vector<int64_t>& dims) { return port.dims && *port.dims == dims; }

// The C interface takes a shape of rank 0 for one of any rank, but takes the shape of a tensor as it is.
Handle<OvModel> make_scalar(const Api& api, Handle<OvModel> model, size_t index, ElementType type) {
    const Handle<OvPreprocessor> steps = owned(api, api.preprocess_prepostprocessor_free, [&](OvPreprocessor** made) {
        return api.preprocess_prepostprocessor_create(model.get(), made);
    });
    const Handle<OvInputInfo> input = owned(api, api.preprocess_input_info_free, [&](OvInputInfo** made) {
        return api.preprocess_prepostprocessor_get_input_info_by_index(steps.get(), index, made);
    });
    const Handle<OvInputTensorInfo> info =
        owned(api, api.preprocess_input_tensor_info_free,
              [&](OvInputTensorInfo** made) { return api.preprocess_input_info_get_tensor_info(input.get(), made); });
    int64_t no_dims = 0;
    const Handle<OvTensor> scalar = owned(api, api.tensor_free, [&](OvTensor** made) {
        return api.tensor_create(to_openvino(type), OvShape{0, &no_dims}, made);
    });
    api.check(api.preprocess_input_tensor_info_set_from(info.get(), scalar.get()));
    return owned(api, api.model_free,
                 [&](OvModel** made) { return api.preprocess_prepostprocessor_build(steps.get(), made); });
}

}  // namespace

Handle<OvCore> make_core(const Api& api) { return owned(api, api.core_free, api.core_create); }

void set_property(const Api& api, const OvCore* core, const std::string& name, const std::string& value) {
    // how models are read is a property of the core, all others are the device's
    const char* device = name == "ENABLE_MMAP" ? "" : "CPU";
    api.check(api.core_set_property(core, device, name.c_str(), value.c_str()));
}

ModelPorts ports_of(const Api& api, const OvModel* model) {
    return {describe_all(api, api.model_inputs_size, api.model_const_input_by_index, model),
            describe_all(api, api.model_outputs_size, api.model_const_output_by_index, model)};
}

Handle<OvModel> read_model(const Api& api, const OvCore* core, const std::string& path) {
    try {
        return owned(api, api.model_free,
                     [&](OvModel** made) { return api.core_read_model(core, path.c_str(), nullptr, made); });
    } catch (const OvError& error) {
        throw Unsupported("OpenVINO cannot read " + std::filesystem::path(path).filename().string() + ": " +
                          error.what());
    }
}

std::vector<size_t> find_inputs(const std::vector<PortSpec>& ports, const std::vector<PortDescription>& inputs) {
    std::vector<size_t> order;
    for (const PortDescription& input : inputs) {
        const auto found = std::ranges::find(ports, input.name, &PortSpec::name);
        if (found == ports.end()) throw Unsupported("OpenVINO's model has no input " + escaped(input.name));
        order.push_back(static_cast<size_t>(found - ports.begin()));
    }
    if (order.size() != ports.size())
        throw Unsupported("OpenVINO's model has " + std::to_string(ports.size()) + " inputs, not " +
                          std::to_string(order.size()));
    return order;
}

Handle<OvModel> reshape(const Api& api, Handle<OvModel> model, const std::vector<PortDescription>& inputs, bool all) {
    const std::vector<PortSpec> ports = ports_of(api, model.get()).inputs;
    const std::vector<size_t> order = find_inputs(ports, inputs);
    std::vector<size_t> indices;
    std::vector<std::vector<OvDimension>> dims;
    std::vector<OvPartialShape> shapes;
    try {
        for (size_t k = 0; k < inputs.size(); ++k) {
            if (has_shape(ports[order[k]], inputs[k].dims)) continue;
            if (inputs[k].dims.empty()) {
                model = make_scalar(api, std::move(model), order[k], ports[order[k]].type);
            } else if (all) {
                indices.push_back(order[k]);
                dims.emplace_back();
                for (int64_t dim : inputs[k].dims) dims.back().push_back({dim, dim});
                const auto rank = static_cast<int64_t>(dims.back().size());
                shapes.push_back({{rank, rank}, dims.back().data()});
            }
        }
        if (!indices.empty())
            api.check(api.model_reshape_by_port_indexes(model.get(), indices.data(), shapes.data(), shapes.size()));
    } catch (const OvError& error) {
        throw Unsupported(std::string("OpenVINO cannot give the inputs these shapes: ") + error.what());
    }
    return model;
}

}  // namespace headway::openvino
