// Two bad kernels that only this test build has. Both promise a tenth of the time of the kernel they stand for:
//   wrong   computes the convolution and then shifts every output a little
//   slow    computes it right and fast by itself, and then walks a buffer larger than the caches, so that every other
//   step
//           of the engine finds its data gone: the choice that per-kernel tuning makes and that a whole engine unmasks
#include <vector>

#include "kernels/kernel.h"

namespace headway {
namespace {

const Knob<std::string_view> planted_kernel{{
    .name = "planted.kernel",
    .help = "Puts a bad convolution kernel into the engine.",
    .family = "kernel",
    .values = {"off", "wrong", "slow"},
    .witness = "conv_chain",
}};

// Plain code that is legal everywhere, as the body of both.
const Kernel& honest() {
    static const Registry<Kernel> kernels = declared<Kernel>();
    const Kernel* kernel = kernels.find("conv.indirect.baseline");
    HEADWAY_CHECK(kernel != nullptr);
    return *kernel;
}

class Planted final : public Prepared {
public:
    Planted(std::unique_ptr<Prepared> body, const Problem& problem, bool wrong)
        : body_(std::move(body)), dst_(problem.dst[0].physical_elements()), wrong_(wrong) {}
    int phases() const override { return body_->phases() + 1; }
    int64_t tiles(int phase) const override { return phase < body_->phases() ? body_->tiles(phase) : 1; }
    int64_t workspace_bytes() const override { return body_->workspace_bytes(); }
    int64_t scratch_bytes() const override { return body_->scratch_bytes(); }
    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        if (phase < body_->phases()) return body_->run(args, phase, begin, end);
        if (wrong_) {
            float* dst = reinterpret_cast<float*>(args.dst[0]);
            for (int64_t i = 0; i < dst_; ++i) dst[i] += 0.25F;
        } else {
            for (size_t i = 0; i < pollution_.size(); i += 16) pollution_[i] = pollution_[i] + 1;
        }
    }

private:
    std::unique_ptr<Prepared> body_;
    int64_t dst_;
    bool wrong_;
    mutable std::vector<float> pollution_ = std::vector<float>(size_t{16} << 20);  // 64 MiB
};

Kernel::Fields fields_of(std::string_view value) {
    Kernel::Fields fields;
    fields.name = "conv.planted_" + std::string(value);
    fields.algorithm = "planted";
    fields.help = "A bad kernel for the tests of the tuner.";
    fields.ops = {"Conv"};
    fields.knobs = {&planted_kernel};
    fields.supports = [value](const Problem& problem, const Target& target, const Choices& choices) {
        if (choices.get(planted_kernel) != value) return Verdict::no(Reason::knob, "planted.kernel");
        return honest().supports(problem, target, choices);
    };
    fields.work = [](const Problem& problem, const Target& target, const Choices& choices) {
        Work work = honest().fields().work(problem, target, choices);
        work.flops /= 100;
        work.bytes /= 100;
        return work;
    };
    fields.pack = [](const Problem& problem, const Target& target, const Choices& choices,
                     std::span<const Tensor* const> constants) {
        return honest().fields().pack(problem, target, choices, constants);
    };
    fields.prepare = [value](const Problem& problem, const Target& target, const Choices& choices) {
        return std::unique_ptr<Prepared>(
            std::make_unique<Planted>(honest().fields().prepare(problem, target, choices), problem, value == "wrong"));
    };
    return fields;
}

const Kernel wrong{fields_of("wrong")};
const Kernel slow{fields_of("slow")};

}  // namespace
}  // namespace headway
