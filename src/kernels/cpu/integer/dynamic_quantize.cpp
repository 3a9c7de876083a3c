// DynamicQuantizeLinear: the range of the input, then the input as u8.
#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/integer/byte_range.h"
#include "kernels/cpu/integer/linear_quantize.h"

namespace headway {
namespace {

class DynamicQuantize final : public Prepared {
public:
    DynamicQuantize(const QuantizeOps& ops, const Problem& problem, const Choices& choices)
        : ops_(ops),
          elements_(problem.src[0]->shape.elements()),
          each_(choices.get(quantize_tile_knob) * 1024),
          tiles_(ceil_div(elements_, each_)) {
        for (size_t i = 0; i < 3; ++i) wanted_[i] = problem.dst[i].type != ElementType::undefined;
    }

    int phases() const override { return 2; }
    // The second phase has a tile for an empty input too: it writes scale and zero point.
    int64_t tiles(int phase) const override { return phase == 0 ? tiles_ : std::max<int64_t>(1, tiles_); }
    int64_t workspace_bytes() const override { return tiles_ * static_cast<int64_t>(sizeof(Range)); }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        auto* ranges = reinterpret_cast<Range*>(args.workspace);
        const auto* x = reinterpret_cast<const float*>(args.src[0]);
        const auto count = [&](int64_t tile) { return std::min(each_, elements_ - tile * each_); };
        if (phase == 0) {
            for (int64_t tile = begin; tile < end; ++tile)
                ops_.range(x + tile * each_, count(tile), &ranges[tile].low, &ranges[tile].high);
            return;
        }
        Range whole{0, 0};
        for (int64_t tile = 0; tile < tiles_; ++tile) {
            whole.low = std::min(whole.low, ranges[tile].low);
            whole.high = std::max(whole.high, ranges[tile].high);
        }
        const ByteRange range = ByteRange::between(whole.low, whole.high);
        for (int64_t tile = begin; tile < end; ++tile) {
            if (tile == 0 && wanted_[1]) *reinterpret_cast<float*>(args.dst[1]) = range.scale;
            if (tile == 0 && wanted_[2]) *args.dst[2] = static_cast<std::byte>(range.zero);
            if (wanted_[0] && tile < tiles_)
                range.quantize(ops_, x + tile * each_, count(tile),
                               reinterpret_cast<uint8_t*>(args.dst[0]) + tile * each_);
        }
    }

private:
    struct Range {
        float low, high;
    };
    const QuantizeOps& ops_;
    int64_t elements_, each_, tiles_;
    bool wanted_[3] = {};
};

Verdict supports(const Problem& problem) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (problem.src.size() != 1 || !problem.src[0] || problem.dst.size() != 3)
        return Verdict::no(Reason::shape, "inputs or outputs");
    if (!problem.constant.empty() && problem.constant[0]) return Verdict::no(Reason::shape, "the input is a constant");
    if (problem.src[0]->type != ElementType::f32) return Verdict::no(Reason::element_type, "needs f32");
    if (problem.src[0]->layout != Layout::plain ||
        !std::ranges::all_of(problem.dst, [](const TensorDesc& desc) { return desc.layout == Layout::plain; }))
        return Verdict::no(Reason::layout, "needs plain tensors");
    return Verdict::yes();
}

Kernel::Fields fields_of(Isa isa, const QuantizeOps& ops) {
    Kernel::Fields fields;
    fields.name = "dynamic_quantize.vector." + std::string(to_string(isa));
    fields.algorithm = "vector";
    fields.help = "The range of the input, then the input as u8, in two parallel passes.";
    fields.ops = {"DynamicQuantizeLinear"};
    fields.isa = isa;
    fields.numerics = Numerics::exact;
    fields.knobs = {&quantize_tile_knob};
    fields.supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); };
    fields.work = [](const Problem& problem, const Target&, const Choices&) {
        const double bytes = static_cast<double>(problem.src[0]->bytes());
        return Work{.flops = bytes, .bytes = 2.25 * bytes, .efficiency = 0.2};
    };
    fields.prepare = [&ops](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<DynamicQuantize>(ops, problem, choices);
    };
    return fields;
}

const Kernel dynamic_quantize_baseline{fields_of(Isa::baseline, baseline::quantize_ops)};
const Kernel dynamic_quantize_avx2{fields_of(Isa::avx2, avx2::quantize_ops)};
const Kernel dynamic_quantize_avx512{fields_of(Isa::avx512, avx512::quantize_ops)};

}  // namespace
}  // namespace headway
