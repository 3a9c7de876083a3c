// One caller of a native engine of either kind, with memory of its own for inputs and outputs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "runtime/engine.h"
#include "staged/staged_engine.h"
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

// An engine file, loaded once for all its callers.
class LoadedEngine {
public:
    // `catalogue` outlives it.
    LoadedEngine(const std::string& path, const Catalogue& catalogue);
    std::unique_ptr<Caller> caller() const;

private:
    std::shared_ptr<const Engine> planned_;
    std::shared_ptr<const StagedEngine> staged_;
};

}  // namespace headway
