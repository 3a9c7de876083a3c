// One caller of a native engine of either kind, with memory of its own for inputs and outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "staged/any_engine.h"
#include "tensor/tensor.h"
#include "workers/builder.h"

namespace headway {

class Caller {
public:
    virtual ~Caller() = default;
    virtual size_t input_count() const = 0;
    virtual void set_inputs(const std::vector<Tensor>& inputs) = 0;
    virtual void run() = 0;
    // Of the last run.
    virtual std::vector<Tensor> outputs() const = 0;
    virtual std::vector<std::string> output_names() const = 0;
    // Averaged over the iterations; an engine of open shapes is one step.
    virtual std::vector<StepTime> profile(int64_t iterations) = 0;
};

std::unique_ptr<Caller> make_caller(const AnyEngine& engine);

}  // namespace headway
