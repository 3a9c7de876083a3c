// One model that OpenVINO has compiled for the CPU, and its callers: an infer request each, over memory of our own.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/samples.h"
#include "tensor/tensor.h"
#include "workers/builder.h"
#include "workers/openvino/api.h"
#include "workers/openvino/model.h"

namespace headway::openvino {

// What is handed to OpenVINO: everything that decides what it builds.
struct CompileRequest {
    std::string model;
    std::vector<PortDescription> inputs;            // all extents known
    bool static_shapes = true;                      // the model is reshaped to the inputs before it is compiled
    std::map<std::string, std::string> properties;  // by OpenVINO's names, set before the model is read
    // Whether callers use start_async and wait, or infer. Small models with several threads run longer by infer.
    bool asynchronous = true;
};

// A node of the compiled model, in the order of execution.
struct NodeTime {
    std::string name, type, exec_type;  // "conv2d_3", "Convolution", "brgconv_avx512_f32"
    int64_t ns = 0;                     // of one run, a multiple of 1000: OpenVINO gives whole microseconds
};

// One caller. Inputs and outputs of known shape lie in our memory, 64-byte aligned, for the whole life of the caller.
class Caller {
public:
    Caller(const Api& api, const OvCompiledModel* model, std::vector<size_t> input_order,
           std::span<const PortSpec> outputs, bool asynchronous);

    // In the order of the request's inputs; types and shapes must be those.
    void set_inputs(std::span<const Tensor> inputs);
    void run();
    std::vector<Tensor> outputs() const;  // copies, in the order of the model's outputs
    // Means of all runs since the model was compiled, which must have been with PERF_COUNT.
    std::vector<NodeTime> profile() const;

private:
    Handle<OvTensor> wrap(Tensor& tensor) const;
    Tensor copy_of_output(size_t k) const;

    const Api& api_;
    bool asynchronous_;
    Handle<OvInferRequest> request_;
    std::vector<size_t> input_order_;
    std::vector<Tensor> inputs_, outputs_;  // outputs_[k] is undefined when its shape is known after a run only
    std::vector<Handle<OvTensor>> wrapped_;
};

class CompiledModel {
public:
    // Unsupported when OpenVINO cannot read the model or misses an input in it; OvError when it rejects a property or
    // cannot compile.
    CompiledModel(const Api& api, const CompileRequest& request);

    std::unique_ptr<Caller> make_caller() const;
    // A property as it is in force after compiling, which may be another value than was asked for; "" when OpenVINO
    // does not tell.
    std::string property(const std::string& name) const;
    const std::vector<PortSpec>& outputs() const { return ports_.outputs; }

private:
    const Api& api_;
    Handle<OvCore> core_;
    bool asynchronous_;
    ModelPorts ports_;
    std::vector<size_t> input_order_;  // where the request's inputs are among the model's
    Handle<OvCompiledModel> compiled_;
};

}  // namespace headway::openvino
