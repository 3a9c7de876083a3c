#include <chrono>
#include <cstring>
#include <mutex>

#include "base/call_work.h"
#include "base/checked.h"
#include "runtime/engine_impl.h"
#include "runtime/float_mode.h"
#include "runtime/memory.h"
#include "runtime/pin.h"

namespace headway {
namespace {

// Ownership of the engine's pool for one run, or of nothing while another run has it.
class PoolLease {
public:
    explicit PoolLease(Pool* pool) : pool_(pool != nullptr && pool->try_begin() ? pool : nullptr) {}
    ~PoolLease() {
        if (pool_ != nullptr) pool_->end();
    }
    PoolLease(const PoolLease&) = delete;
    PoolLease& operator=(const PoolLease&) = delete;
    Pool* get() const { return pool_; }

private:
    Pool* pool_;
};

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

constexpr int64_t most_chunks = int64_t{1} << 31;  // the own pool keeps both ends of a share in one word

// A thread of a static share runs it in one piece; guided shares are claimed in pieces that shrink down to single
// tiles.
int64_t chunks_of(int64_t tiles, int threads, const Settings& settings) {
    if (settings.partition == "static") return threads;
    if (settings.partition == "guided") return std::min(tiles, most_chunks);
    return std::min(tiles, threads * settings.tasks_per_thread);
}

void check_port(const Port& port, const Tensor& tensor) {
    if (tensor.type() == port.desc.type && tensor.shape() == port.desc.shape) return;
    throw UserError("input " + port.name + " is " + std::string(to_string(tensor.type())) + " " +
                    tensor.shape().text() + ", the engine takes " + std::string(to_string(port.desc.type)) + " " +
                    port.desc.shape.text());
}

}  // namespace

struct Context::Impl {
    explicit Impl(std::shared_ptr<const Engine> engine);

    void bind(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs);
    template <bool timed>
    void execute(int64_t* step_ns);

    std::shared_ptr<const Engine> engine;

private:
    // Everything a step needs, looked up once.
    struct Ready {
        const Prepared* prepared;
        const int64_t* tiles;
        int phases;
        int threads;
        Args args;
    };
    // A pointer that is known only when the caller brings its memory.
    struct Patch {
        size_t slot;
        size_t port;
    };

    std::byte* address(const Buffer& buffer) const;
    void append(int32_t buffer);
    void run_alone(const Ready& step) const;
    void run_shared(const Ready& step, Pool& pool);

    Pages arena_, workspace_, scratch_;
    std::vector<std::byte*> pointers_;  // src, operands, dst and packed of all steps, one after another
    std::vector<Patch> input_patches_, output_patches_;
    std::vector<Ready> steps_;
    TileErrors errors_;
};

Context::Impl::Impl(std::shared_ptr<const Engine> shared) : engine(std::move(shared)) {
    const Engine::Impl& impl = engine->impl();
    const Plan& plan = impl.plan;
    const int64_t threads = impl.pool != nullptr ? plan.settings.threads : 1;
    arena_ = Pages(plan.arena_bytes, plan.settings.arena_pages);
    workspace_ = Pages(impl.workspace_bytes, plan.settings.arena_pages);
    scratch_ = Pages(checked_mul(impl.scratch_bytes, threads, "scratch"), plan.settings.arena_pages);
    std::vector<size_t> starts;
    for (const Step& step : plan.steps) {
        for (const auto* ids : {&step.src, &step.operands, &step.dst}) {
            starts.push_back(pointers_.size());
            for (int32_t id : *ids) append(id);
        }
        starts.push_back(pointers_.size());
        for (int32_t id : step.packed)
            pointers_.push_back(const_cast<std::byte*>(plan.constants[static_cast<size_t>(id)].bytes.bytes().data()));
    }
    for (size_t i = 0; i < plan.steps.size(); ++i) {
        const PreparedStep& prepared = impl.steps[i];
        std::byte* const* base = pointers_.data();
        const Args args{base + starts[4 * i],     base + starts[4 * i + 1], base + starts[4 * i + 2],
                        base + starts[4 * i + 3], workspace_.data(),        scratch_.data()};
        steps_.push_back({prepared.prepared.get(), prepared.tiles.data(), static_cast<int>(prepared.tiles.size()),
                          prepared.threads, args});
    }
}

std::byte* Context::Impl::address(const Buffer& buffer) const {
    if (buffer.place == Place::arena) return arena_.data() + buffer.index;
    if (buffer.place != Place::constant) return nullptr;
    const Tensor& bytes = engine->plan().constants[static_cast<size_t>(buffer.index)].bytes;
    return const_cast<std::byte*>(bytes.bytes().data());
}

void Context::Impl::append(int32_t id) {
    if (id == -1) return pointers_.push_back(nullptr);
    const Buffer& buffer = engine->plan().buffers[static_cast<size_t>(id)];
    if (buffer.place == Place::input) input_patches_.push_back({pointers_.size(), static_cast<size_t>(buffer.index)});
    if (buffer.place == Place::output) output_patches_.push_back({pointers_.size(), static_cast<size_t>(buffer.index)});
    pointers_.push_back(address(buffer));
}

void Context::Impl::bind(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
    const Plan& plan = engine->plan();
    if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size())
        throw UserError("the engine has " + std::to_string(plan.inputs.size()) + " inputs and " +
                        std::to_string(plan.outputs.size()) + " outputs, given were " + std::to_string(inputs.size()) +
                        " and " + std::to_string(outputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Port& port = plan.inputs[i];
        if (!port.fixed_value.empty() && std::memcmp(port.fixed_value.data(), inputs[i], port.fixed_value.size()) != 0)
            throw UserError("input " + port.name + " was fixed when the engine was built and now has another value");
    }
    for (const Patch& patch : input_patches_) pointers_[patch.slot] = const_cast<std::byte*>(inputs[patch.port]);
    for (const Patch& patch : output_patches_) pointers_[patch.slot] = outputs[patch.port];
}

void Context::Impl::run_alone(const Ready& step) const {
    for (int phase = 0; phase < step.phases; ++phase)
        if (step.tiles[phase] > 0) step.prepared->run(step.args, phase, 0, step.tiles[phase]);
}

void Context::Impl::run_shared(const Ready& step, Pool& pool) {
    const Engine::Impl& impl = engine->impl();
    for (int phase = 0; phase < step.phases; ++phase) {
        const int64_t tiles = step.tiles[phase];
        const int threads = static_cast<int>(std::min<int64_t>(step.threads, tiles));
        if (threads < 2) {
            if (tiles > 0) step.prepared->run(step.args, phase, 0, tiles);
            continue;
        }
        const int64_t chunks = chunks_of(tiles, threads, impl.plan.settings);
        pool.run({step.prepared, step.args, impl.scratch_bytes, phase, tiles, chunks, &errors_}, threads);
        errors_.rethrow();
    }
}

template <bool timed>
void Context::Impl::execute(int64_t* step_ns) {
    const Engine::Impl& impl = engine->impl();
    const CallWork call;
    charge_work(impl.work);
    const PoolLease lease(impl.pool.get());
    const PinnedCaller pinned(lease.get() != nullptr && impl.plan.settings.pin == "compact");
    const FloatMode mode(impl.plan.settings.flush_to_zero);
    [[maybe_unused]] int64_t before = timed ? now_ns() : 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
        const Ready& step = steps_[i];
        try {
            if (lease.get() == nullptr || step.threads == 1)
                run_alone(step);
            else
                run_shared(step, *lease.get());
        } catch (const UserError& error) {  // data that an operator refuses
            throw UserError(step_place(impl.plan, i) + ": " + error.what());
        }
        if constexpr (timed) {
            const int64_t after = now_ns();
            step_ns[i] += after - before;
            before = after;
        }
    }
}

Context::Context(std::shared_ptr<const Engine> engine) : impl_(std::make_unique<Impl>(std::move(engine))) {}
Context::~Context() = default;

void Context::run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
    impl_->bind(inputs, outputs);
    impl_->execute<false>(nullptr);
}

std::vector<Tensor> Context::run(std::span<const Tensor> inputs) {
    const Plan& plan = impl_->engine->plan();
    if (inputs.size() != plan.inputs.size())
        throw UserError("the engine has " + std::to_string(plan.inputs.size()) + " inputs, given were " +
                        std::to_string(inputs.size()));
    std::vector<const std::byte*> in;
    for (size_t i = 0; i < inputs.size(); ++i) {
        check_port(plan.inputs[i], inputs[i]);
        in.push_back(inputs[i].bytes().data());
    }
    std::vector<Tensor> results;
    std::vector<std::byte*> out;
    for (const Port& port : plan.outputs) {
        results.emplace_back(port.desc.type, port.desc.shape);
        out.push_back(results.back().mutable_bytes().data());
    }
    run(in, out);
    return results;
}

void Context::profile(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                      std::span<int64_t> step_ns) {
    HEADWAY_CHECK(step_ns.size() == impl_->engine->plan().steps.size());
    impl_->bind(inputs, outputs);
    impl_->execute<true>(step_ns.data());
}

const Engine& Context::engine() const { return *impl_->engine; }

int64_t Context::arena_bytes() const { return impl_->engine->plan().arena_bytes; }

}  // namespace headway
