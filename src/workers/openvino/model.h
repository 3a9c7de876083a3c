// A model file as OpenVINO reads it, before it is compiled: its ports, and giving its inputs their shapes.
#pragma once

#include <string>
#include <vector>

#include "data/samples.h"
#include "workers/builder.h"
#include "workers/openvino/api.h"

namespace headway::openvino {

Handle<OvCore> make_core(const Api& api);
// OvError for a name or value that OpenVINO does not take.
void set_property(const Api& api, const OvCore* core, const std::string& name, const std::string& value);

// Unsupported when OpenVINO cannot read it.
Handle<OvModel> read_model(const Api& api, const OvCore* core, const std::string& path);

struct ModelPorts {
    std::vector<PortSpec> inputs, outputs;
};

// A scalar input of an ONNX file has any rank to OpenVINO.
ModelPorts ports_of(const Api& api, const OvModel* model);

// Where the inputs are among the model's, by name: variants need not have the order of the model they stand for.
// Unsupported when the model has others.
std::vector<size_t> find_inputs(const std::vector<PortSpec>& ports, const std::vector<PortDescription>& inputs);

// The model with scalar inputs where `inputs` have no dimensions, which the CPU device needs to be told, and, if `all`,
// with the shapes of all inputs. Unsupported when they cannot be carried through it.
Handle<OvModel> reshape(const Api& api, Handle<OvModel> model, const std::vector<PortDescription>& inputs, bool all);

}  // namespace headway::openvino
