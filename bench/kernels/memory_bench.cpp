// Speed of kernels that mostly move memory, beside memcpy of as many bytes: pointwise programs, layout changes,
// softmax, reductions, pools, and single LSTM steps.
#include <benchmark/benchmark.h>

#include <cstring>

#include "kernels/kernel.h"

namespace headway {
namespace {

TensorDesc f32(Shape shape, Layout layout = Layout::plain) { return {ElementType::f32, std::move(shape), layout}; }

// A problem with buffers of ones, run by the kernel of this name.
class Run {
public:
    Run(const std::string& kernel, Problem problem, const Choices& choices = {}) : problem_(std::move(problem)) {
        static const Registry<Kernel> kernels = declared<Kernel>();
        const Kernel& found = *kernels.find(kernel);
        const Target target = Target::native();
        const Verdict verdict = found.supports(problem_, target, choices);
        if (!verdict) throw InternalError(kernel + ": " + verdict.text());
        pack(found, target, choices);
        for (size_t i = 0; i < problem_.src.size(); ++i)
            src_.push_back(problem_.src[i] && !problem_.constant[i] ? buffer(*problem_.src[i]) : nullptr);
        for (const TensorDesc& desc : problem_.operands) operands_.push_back(buffer(desc));
        for (const TensorDesc& desc : problem_.dst) dst_.push_back(const_cast<std::byte*>(buffer(desc)));
        prepared_ = found.fields().prepare(problem_, target, choices);
        workspace_ = Tensor(ElementType::u8, {prepared_->workspace_bytes() + 64});
        scratch_ = Tensor(ElementType::u8, {prepared_->scratch_bytes() + 64});
    }

    void operator()() {
        const Args args{src_.data(),
                        operands_.data(),
                        dst_.data(),
                        packed_.data(),
                        workspace_.mutable_bytes().data(),
                        scratch_.mutable_bytes().data()};
        for (int phase = 0; phase < prepared_->phases(); ++phase)
            if (const int64_t tiles = prepared_->tiles(phase); tiles > 0) prepared_->run(args, phase, 0, tiles);
    }

private:
    Tensor& ones(const TensorDesc& desc) {
        Tensor& tensor = tensors_.emplace_back(Tensor(ElementType::f32, {desc.physical_elements()}));
        for (float& value : tensor.mutable_data<float>()) value = 1;
        return tensor;
    }
    const std::byte* buffer(const TensorDesc& desc) { return ones(desc).bytes().data(); }

    void pack(const Kernel& kernel, const Target& target, const Choices& choices) {
        if (!kernel.fields().pack) return;
        std::vector<Tensor> given(problem_.src.size());
        std::vector<const Tensor*> constants(problem_.src.size(), nullptr);
        for (size_t i = 0; i < problem_.src.size(); ++i)
            if (problem_.src[i] && problem_.constant[i]) {
                given[i] = ones(*problem_.src[i]).reshaped(problem_.src[i]->shape);
                constants[i] = &given[i];
            }
        blobs_ = kernel.fields().pack(problem_, target, choices, constants);
        for (const Tensor& blob : blobs_) packed_.push_back(blob.bytes().data());
    }

    Problem problem_;
    std::vector<Tensor> tensors_, blobs_;
    std::vector<const std::byte*> src_, operands_, packed_;
    std::vector<std::byte*> dst_;
    std::unique_ptr<Prepared> prepared_;
    Tensor workspace_, scratch_;
};

void report(benchmark::State& state, double elements, double bytes) {
    const auto iterations = static_cast<double>(state.iterations());
    state.counters["ns_each"] =
        benchmark::Counter(elements * iterations * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.SetBytesProcessed(static_cast<int64_t>(bytes * iterations));
}

void run_all(benchmark::State& state, Run run, double elements, double bytes) {
    run();
    for (auto _ : state) run();
    report(state, elements, bytes);
}

void copy(benchmark::State& state) {
    const auto size = static_cast<size_t>(state.range(0)) * sizeof(float);
    std::vector<char> from(size, 1), to(size, 2);
    for (auto _ : state) {
        std::memcpy(to.data(), from.data(), size);
        benchmark::ClobberMemory();
    }
    report(state, static_cast<double>(state.range(0)), 2.0 * static_cast<double>(size));
}

Problem pointwise(const std::string& program, const TensorDesc& dst, std::vector<TensorDesc> operands) {
    Problem problem;
    problem.op = "Pointwise";
    problem.epilogue = Program::parse(program);
    problem.dst = {dst};
    problem.operands = std::move(operands);
    return problem;
}

// 24 channels x 40 x 48: 184 KiB, source and result together in the second-level cache.
const TensorDesc image = f32({1, 24, 40, 48}, Layout::nhwc);
constexpr double image_elements = 24 * 40 * 48;

void programs(benchmark::State& state, const std::string& program, std::vector<TensorDesc> operands) {
    const double streams = static_cast<double>(std::count(operands.begin(), operands.end(), image)) + 1;
    run_all(state, Run("pointwise.tiles.avx2", pointwise(program, image, std::move(operands))), image_elements,
            4 * streams * image_elements);
}

void reorder(benchmark::State& state, Shape shape, Layout from, Layout to, const char* block) {
    Choices choices;
    choices.set("layout.transpose_block", block);
    Problem problem;
    problem.op = "Reorder";
    problem.src = {f32(shape, from)};
    problem.constant = {false};
    problem.dst = {f32(shape, to)};
    const auto elements = static_cast<double>(shape.elements());
    run_all(state, Run("reorder.copy.avx2", problem, choices), elements, 8 * elements);
}

Problem unary(const std::string& op, const TensorDesc& src, const TensorDesc& dst) {
    Problem problem;
    problem.op = op;
    problem.version = 13;
    problem.src = {src};
    problem.constant = {false};
    problem.dst = {dst};
    return problem;
}

void softmax(benchmark::State& state, int64_t rows, int64_t n, const char* form) {
    Choices choices;
    choices.set("softmax.form", form);
    const auto elements = static_cast<double>(rows * n);
    run_all(state, Run("softmax.vector.avx2", unary("Softmax", f32({rows, n}), f32({rows, n})), choices), elements,
            8 * elements);
}

void max_pool(benchmark::State& state, Layout layout) {
    Problem problem = unary("MaxPool", f32({1, 64, 112, 112}, layout), f32({1, 64, 56, 56}, layout));
    problem.attributes.set("kernel_shape", std::vector<int64_t>{3, 3});
    problem.attributes.set("strides", std::vector<int64_t>{2, 2});
    problem.attributes.set("pads", std::vector<int64_t>{1, 1, 1, 1});
    run_all(state, Run("pool.vector.avx2", problem), 64 * 56 * 56, 4.0 * 64 * 112 * 112);
}

void lstm_step(benchmark::State& state, const char* weights) {
    Problem problem;
    problem.op = "LSTM";
    const int64_t batch = state.range(0), n = 128;
    problem.src = {f32({1, batch, n}), f32({1, 4 * n, n}), f32({1, 4 * n, n}), f32({1, 8 * n}),
                   std::nullopt,       f32({1, batch, n}), f32({1, batch, n})};
    problem.constant = {false, true, true, true, false, false, false};
    problem.dst = {f32({1, 1, batch, n}), f32({1, batch, n}), f32({1, batch, n})};
    Choices choices;
    choices.set("recurrent.weights", weights);
    run_all(state, Run("recurrent.step.avx2", problem, choices), static_cast<double>(batch), 4.0 * 8 * n * n);
}

[[maybe_unused]] const auto* const declared_benchmarks = [] {
    benchmark::RegisterBenchmark("copy", copy)->Arg(24 * 40 * 48)->Arg(24 * 160 * 160);
    const TensorDesc channel = f32({24, 1, 1});
    const auto program = [&](const char* name, const char* text, std::vector<TensorDesc> operands) {
        benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { programs(state, text, operands); });
    };
    program("pointwise/hard_swish", "r1=load 0; r1=hard_swish r1 -> r1", {image});
    program("pointwise/bias_hard_swish", "r1=load 0; r2=load 1; r1=add r1 r2; r1=hard_swish r1 -> r1",
            {image, channel});
    program("pointwise/channel_mul_add", "r1=load 0; r2=load 1; r3=load 2; r1=mul r1 r2; r1=add r1 r3 -> r1",
            {image, channel, channel});
    program("pointwise/add_relu", "r1=load 0; r2=load 1; r1=add r1 r2; r1=relu r1 -> r1", {image, image});
    program("pointwise/affine_chain",
            "r1=load 0; r1=mul_add r1 2 1; r1=clip r1 0 6; r1=mul_add r1 0.1 0; r2=load 0; r1=mul r1 r2 -> r1",
            {image});
    program("pointwise/sigmoid", "r1=load 0; r1=sigmoid r1 -> r1", {image});
    program("pointwise/gelu", "r1=load 0; r1=gelu r1 -> r1", {image});
    const auto reorders = [](const char* name, Shape shape, Layout from, Layout to) {
        benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { reorder(state, shape, from, to, "32"); });
    };
    reorders("reorder/plain_nhwc_24x40x48", {1, 24, 40, 48}, Layout::plain, Layout::nhwc);
    reorders("reorder/nhwc_plain_24x40x48", {1, 24, 40, 48}, Layout::nhwc, Layout::plain);
    reorders("reorder/plain_nchw8c_24x40x48", {1, 24, 40, 48}, Layout::plain, Layout::nchw8c);
    reorders("reorder/nhwc_nchw8c_24x40x48", {1, 24, 40, 48}, Layout::nhwc, Layout::nchw8c);
    reorders("reorder/plain_nhwc_96x160x160", {1, 96, 160, 160}, Layout::plain, Layout::nhwc);
    reorders("reorder/plain_nhwc_3x640x640", {1, 3, 640, 640}, Layout::plain, Layout::nhwc);
    for (const char* block : {"8", "16", "64", "256"})
        benchmark::RegisterBenchmark((std::string("reorder/plain_nhwc_96x160x160/block") + block).c_str(),
                                     [=](benchmark::State& state) {
                                         reorder(state, {1, 96, 160, 160}, Layout::plain, Layout::nhwc, block);
                                     });
    for (const char* form : {"stored", "online"}) {
        benchmark::RegisterBenchmark((std::string("softmax/40x6625/") + form).c_str(),
                                     [=](benchmark::State& state) { softmax(state, 40, 6625, form); });
        benchmark::RegisterBenchmark((std::string("softmax/480x40/") + form).c_str(),
                                     [=](benchmark::State& state) { softmax(state, 480, 40, form); });
    }
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c}) {
        const std::string word(to_string(layout));
        benchmark::RegisterBenchmark(("global_average/96x40x40/" + word).c_str(), [=](benchmark::State& state) {
            run_all(state,
                    Run("reduce.vector.avx2",
                        unary("GlobalAveragePool", f32({1, 96, 40, 40}, layout), f32({1, 96, 1, 1}, layout))),
                    96 * 1600, 4.0 * 96 * 1600);
        });
        benchmark::RegisterBenchmark(("max_pool/64x112x112/" + word).c_str(),
                                     [=](benchmark::State& state) { max_pool(state, layout); });
    }
    for (const char* weights : {"f32", "bf16"})
        benchmark::RegisterBenchmark((std::string("lstm_step_128/") + weights).c_str(),
                                     [=](benchmark::State& state) { lstm_step(state, weights); })
            ->Arg(1)
            ->Arg(4)
            ->Arg(32)
            ->Unit(benchmark::kMicrosecond);
    return "";
}();

}  // namespace
}  // namespace headway
