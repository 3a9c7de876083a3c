#include "runtime/engine.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/text.h"
#include "runtime/engine_file.h"
#include "runtime/engine_impl.h"
#include "runtime/memory.h"
#include "runtime/packed.h"

namespace headway {
namespace {

constexpr int64_t alignment = 64;

// A file for another machine is refused with the field that differs.
void check_machine(const Target& target) {
    const std::string missing = missing_field(target, Target::native());
    if (!missing.empty())
        throw UserError("the engine was built for " + missing +
                        ", which this machine does not have: build it again for this machine");
}

// One block for all constants: few pages, and the plan's own copies are let go, those in `map` as they are copied.
void place_constants(Plan& plan, const MappedFile* map) {
    if (plan.settings.weight_pages == "mapped") return;
    int64_t total = 0;
    for (const Constant& constant : plan.constants)
        total = checked_add(total, round_up(static_cast<int64_t>(constant.bytes.size_bytes()), alignment), "constants");
    const auto block = std::make_shared<Pages>(total, plan.settings.weight_pages);
    std::byte* at = block->data();
    for (Constant& constant : plan.constants) {
        const size_t size = constant.bytes.size_bytes();
        if (size > 0) std::memcpy(at, constant.bytes.bytes().data(), size);
        if (size > 0 && map != nullptr) map->release(constant.bytes.bytes());
        constant.bytes = Tensor(constant.bytes.type(), constant.bytes.shape(), {at, size}, block);
        at += round_up(static_cast<int64_t>(size), alignment);
    }
}

// check_plan has seen to it that overlapping buffers of one step coincide.
bool shares_bytes(const Plan& plan, const Step& step) {
    const auto same = [&](int32_t a, int32_t b) {
        const Buffer& x = plan.buffers[static_cast<size_t>(a)];
        const Buffer& y = plan.buffers[static_cast<size_t>(b)];
        return x.place == y.place && x.index == y.index && x.desc.bytes() > 0 && y.desc.bytes() > 0;
    };
    for (int32_t dst : step.dst)
        for (const auto* sources : {&step.src, &step.operands})
            for (int32_t source : *sources)
                if (dst != -1 && source != -1 && same(dst, source)) return true;
    return false;
}

PreparedStep prepare(const Plan& plan, size_t index, const Target& target, const Registry<Kernel>& kernels) {
    const Step& step = plan.steps[index];
    const Kernel* kernel = kernels.find(step.kernel);
    if (kernel == nullptr)
        throw UserError(step_place(plan, index) + " needs kernel " + step.kernel +
                        ", which this version does not have");
    const Verdict verdict = kernel->supports(step.problem, target, step.choices);
    if (!verdict)
        throw UserError(step_place(plan, index) + ": kernel " + step.kernel + " cannot run it: " + verdict.text());
    if (shares_bytes(plan, step) && !kernel->fields().in_place)
        throw UserError(step_place(plan, index) + ": kernel " + step.kernel + " cannot write over its input");
    PreparedStep result;
    result.prepared = kernel->fields().prepare(step.problem, target, step.choices);
    HEADWAY_CHECK(result.prepared != nullptr);
    std::vector<const std::byte*> packed;
    for (int32_t id : step.packed) packed.push_back(plan.constants[static_cast<size_t>(id)].bytes.bytes().data());
    result.prepared->load(packed.data());
    int64_t most_tiles = 0;
    for (int phase = 0; phase < result.prepared->phases(); ++phase) {
        result.tiles.push_back(result.prepared->tiles(phase));
        most_tiles = std::max(most_tiles, result.tiles.back());
    }
    const int64_t limit = step.max_threads == 0 ? plan.settings.threads : step.max_threads;
    result.threads =
        static_cast<int>(std::max<int64_t>(1, std::min({int64_t{plan.settings.threads}, limit, most_tiles})));
    return result;
}

// References charge their own work when they run.
int64_t operations_of(const Step& step, const Target& target, const Registry<Kernel>& kernels) {
    const Kernel::Fields& kernel = kernels.find(step.kernel)->fields();
    if (!kernel.work) return 0;
    constexpr double most = 1e18;
    const Work work = kernel.work(step.problem, target, step.choices);
    const double operations = work.flops / 2 + work.bytes / sizeof(float);
    return static_cast<int64_t>(operations < most ? operations : most);
}

// `map`: the file that the plan's constants lie in, if any.
std::shared_ptr<const Engine> assemble(Plan plan, EngineInfo info, const Registry<Kernel>& kernels,
                                       std::shared_ptr<Pool> pool, const MappedFile* map) {
    check_plan(plan);
    const Target target = Target::parse(info.target);
    check_machine(target);
    place_constants(plan, map);
    auto impl = std::make_unique<Engine::Impl>();
    bool parallel = false;
    for (size_t i = 0; i < plan.steps.size(); ++i) {
        PreparedStep step = prepare(plan, i, target, kernels);
        parallel = parallel || step.threads > 1;
        impl->workspace_bytes = std::max(impl->workspace_bytes, round_up(step.prepared->workspace_bytes(), alignment));
        impl->scratch_bytes = std::max(impl->scratch_bytes, round_up(step.prepared->scratch_bytes(), alignment));
        impl->steps.push_back(std::move(step));
        if (__builtin_add_overflow(impl->work, operations_of(plan.steps[i], target, kernels), &impl->work))
            impl->work = std::numeric_limits<int64_t>::max();
    }
    if (parallel) impl->pool = pool != nullptr ? std::move(pool) : make_pool(plan.settings);
    impl->plan = std::move(plan);
    impl->info = std::move(info);
    return std::make_shared<const Engine>(std::move(impl));
}

}  // namespace

std::unique_ptr<Pool> make_pool(const Settings& settings) {
    return settings.pool == "openmp" ? make_openmp_pool(settings) : make_own_pool(settings);
}

std::string step_place(const Plan& plan, size_t index) {
    const Step& step = plan.steps[index];
    return "step " + std::to_string(index) + (step.origins.empty() ? "" : " (" + escaped(step.origins.front()) + ")");
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

const Plan& Engine::plan() const { return impl_->plan; }
const EngineInfo& Engine::info() const { return impl_->info; }

std::shared_ptr<const Engine> Engine::make(Plan plan, EngineInfo info, const Registry<Kernel>& kernels,
                                           std::shared_ptr<Pool> pool) {
    return assemble(std::move(plan), std::move(info), kernels, std::move(pool), nullptr);
}

std::shared_ptr<const Engine> Engine::load(const std::string& path, const Registry<Kernel>& kernels) {
    EngineFile file = read_engine_file(path);
    if (file.staged) throw UserError(path + " is an engine of open shapes: it has no plan to load");
    try {
        check_packed(file.plan, Target::parse(file.info.target), kernels);
        return assemble(std::move(file.plan), std::move(file.info), kernels, nullptr, file.map.get());
    } catch (const UserError& error) {
        throw UserError(path + ": " + error.what());
    }
}

}  // namespace headway
