#include "workers/native/caller.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"

namespace headway {
namespace {

// In memory that the caller would own, and aligned.
Tensor own_copy(const Tensor& tensor) {
    Tensor copy(tensor.type(), tensor.shape());
    std::ranges::copy(tensor.bytes(), copy.mutable_bytes().begin());
    return copy;
}

class PlannedCaller final : public Caller {
public:
    explicit PlannedCaller(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)), context_(engine_) {
        for (const Port& port : engine_->plan().outputs) {
            outputs_.emplace_back(port.desc.type, port.desc.shape);
            output_bytes_.push_back(outputs_.back().mutable_bytes().data());
        }
    }

    size_t input_count() const override { return engine_->plan().inputs.size(); }

    void set_inputs(const std::vector<Tensor>& inputs) override {
        const std::vector<Port>& ports = engine_->plan().inputs;
        if (inputs.size() != ports.size())
            throw UserError("the sample has " + std::to_string(inputs.size()) + " inputs, the engine wants " +
                            std::to_string(ports.size()));
        inputs_.clear();
        input_bytes_.clear();
        for (size_t k = 0; k < ports.size(); ++k) {
            if (inputs[k].type() != ports[k].desc.type || inputs[k].shape() != ports[k].desc.shape)
                throw UserError("input " + escaped(ports[k].name) + " is " + std::string(to_string(inputs[k].type())) +
                                " " + inputs[k].shape().text() + " in the data, the engine was built for " +
                                std::string(to_string(ports[k].desc.type)) + " " + ports[k].desc.shape.text());
            inputs_.push_back(own_copy(inputs[k]));
        }
        for (const Tensor& input : inputs_) input_bytes_.push_back(input.bytes().data());
    }

    void run() override { context_.run(input_bytes_, output_bytes_); }
    std::vector<Tensor> outputs() const override { return outputs_; }

    std::vector<std::string> output_names() const override {
        std::vector<std::string> names;
        for (const Port& port : engine_->plan().outputs) names.push_back(port.name);
        return names;
    }

    std::vector<StepTime> profile(int64_t iterations) override {
        const Plan& plan = engine_->plan();
        std::vector<int64_t> ns(plan.steps.size(), 0);
        for (int64_t k = 0; k < iterations; ++k) context_.profile(input_bytes_, output_bytes_, ns);
        std::vector<StepTime> times;
        for (size_t s = 0; s < ns.size(); ++s)
            times.push_back({plan.steps[s].kernel, plan.steps[s].origins, ns[s] / std::max<int64_t>(iterations, 1)});
        return times;
    }

private:
    std::shared_ptr<const Engine> engine_;
    Context context_;
    std::vector<Tensor> inputs_, outputs_;
    std::vector<const std::byte*> input_bytes_;
    std::vector<std::byte*> output_bytes_;
};

class StagedCaller final : public Caller {
public:
    explicit StagedCaller(std::shared_ptr<const StagedEngine> engine) : engine_(std::move(engine)) {}

    size_t input_count() const override { return engine_->inputs().size(); }

    void set_inputs(const std::vector<Tensor>& inputs) override {
        inputs_.clear();
        for (const Tensor& input : inputs) inputs_.emplace_back(own_copy(input));
    }

    void run() override { outputs_ = engine_->run(inputs_); }
    std::vector<Tensor> outputs() const override { return tensors_of(outputs_); }

    std::vector<std::string> output_names() const override {
        std::vector<std::string> names;
        for (const StagedPort& port : engine_->outputs()) names.push_back(port.name);
        return names;
    }

    std::vector<StepTime> profile(int64_t iterations) override {
        const auto begin = std::chrono::steady_clock::now();
        for (int64_t k = 0; k < iterations; ++k) run();
        const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
        return {{"staged", {}, taken.count() / std::max<int64_t>(iterations, 1)}};
    }

private:
    std::shared_ptr<const StagedEngine> engine_;
    std::vector<Datum> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Caller> make_caller(const AnyEngine& engine) {
    if (const auto* planned = std::get_if<PlannedPointer>(&engine)) return std::make_unique<PlannedCaller>(*planned);
    return std::make_unique<StagedCaller>(std::get<StagedPointer>(engine));
}

}  // namespace headway
