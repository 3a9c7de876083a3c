// A session of ONNX Runtime as Headway uses one: ports that are tensors, and any number of callers with memory of
// their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/samples.h"
#include "tensor/tensor.h"
#include "workers/onnxruntime/api.h"

namespace headway::ort {

// What a model says about an input or output.
struct PortInfo {
    PortSpec spec;                     // -1 = open
    std::vector<std::string> symbols;  // a name for each extent; "" where it is known or has none
};

class Runner {
public:
    // UserError when an input or output is no tensor of a type that we have; Error from ONNX Runtime.
    Runner(const std::string& model, const SessionOptions& options, bool flush_denormals);

    const std::vector<PortInfo>& inputs() const { return inputs_; }
    const std::vector<PortInfo>& outputs() const { return outputs_; }
    std::vector<std::string> output_names() const;

    // One call, on outputs of its own.
    std::vector<Tensor> run(const std::vector<Tensor>& inputs);

    // Makes callers 0 .. count-1, each with copies of the inputs and with outputs of the shapes that these inputs give.
    // Does nothing when there are as many.
    void prepare_streams(int count, const std::vector<Tensor>& inputs);
    // `iterations` calls of one caller; callers may run at the same time.
    void run_stream(int stream, int64_t iterations);

    Session& session() { return *session_; }

private:
    struct Stream {
        std::vector<Tensor> inputs, outputs;
        std::vector<Handle<Value>> values;
        Handle<IoBinding> binding;
    };
    Stream make_stream(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);
    void bind_inputs(IoBinding& binding, std::vector<Tensor>& inputs, std::vector<Handle<Value>>& values);
    std::vector<PortInfo> read_ports(bool outputs) const;

    Handle<Session> session_;
    bool flush_denormals_;
    std::vector<PortInfo> inputs_, outputs_;
    std::vector<Stream> streams_;
};

}  // namespace headway::ort
