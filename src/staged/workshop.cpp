#include "staged/workshop.h"

#include "knobs/knob.h"

namespace headway {
namespace {

const Knob<int64_t> kept_shapes{{
    .name = "staged.kept_shapes",
    .help = "Of an engine of open shapes: for how many shapes of each part the compiled form is kept.",
    .family = "memory",
    .values = {8, 1, 64},
    .numerics = Numerics::exact,
    .scope = Scope::graph,
    .witness = "open_shapes",
}};

const Knob<int64_t> compile_from{{
    .name = "staged.compile_from",
    .help = "Of an engine of open shapes: a part is compiled from this many elements read and written on, smaller "
            "ones run by the operators' references.",
    .family = "kernel",
    .values = {4096, 0, 262144},
    .numerics = Numerics::reorders,
    .scope = Scope::graph,
    .witness = "open_shapes",
}};

}  // namespace

StagedSettings staged_settings_of(const Route& route) { return {route.get(kept_shapes), route.get(compile_from)}; }

Workshop::Workshop(const Catalogue& catalogue, Route route, Target target, StagedSettings settings)
    : catalogue_(catalogue), route_(std::move(route)), target_(std::move(target)), settings_(settings) {}

std::shared_ptr<Pool> Workshop::pool(const Settings& settings) {
    if (pool_ == nullptr && settings.threads > 1) pool_ = make_pool(settings);
    return pool_;
}

void Workshop::share_constants(Plan& plan) {
    for (Constant& constant : plan.constants) {
        std::weak_ptr<const Tensor>& known = constants_[constant.hash];
        std::shared_ptr<const Tensor> shared = known.lock();
        if (shared == nullptr) known = shared = std::make_shared<const Tensor>(constant.bytes);
        // The view keeps the shared tensor, and so the entry, alive.
        constant.bytes = Tensor(shared->type(), shared->shape(), shared->bytes(), shared);
    }
    std::erase_if(constants_, [](const auto& entry) { return entry.second.expired(); });
    // Engine::make would copy them into a block of its own.
    plan.settings.weight_pages = "mapped";
}

std::shared_ptr<const Engine> Workshop::engine(Graph graph) {
    const std::lock_guard lock(mutex_);
    std::vector<Decision> ledger;
    Plan plan = compile_bound(std::move(graph), route_, target_, catalogue_, ledger);
    if (record_ != nullptr) {
        record_->ledger.insert(record_->ledger.end(), ledger.begin(), ledger.end());
        record_->fingerprints.push_back(plan.fingerprint());
    }
    share_constants(plan);
    EngineInfo info;
    info.target = target_.text();
    const std::shared_ptr<Pool> shared = pool(plan.settings);
    return Engine::make(std::move(plan), std::move(info), catalogue_.kernels, shared);
}

void Workshop::record(Record* record) {
    const std::lock_guard lock(mutex_);
    record_ = record;
}

bool Workshop::is_recording() {
    const std::lock_guard lock(mutex_);
    return record_ != nullptr;
}

void Workshop::note_reference(const Node& node, const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (record_ == nullptr) return;
    record_->ledger.push_back(
        {"staged", node.origins.front(), "compiled step", false, Verdict::no(Reason::needs_constant, why), 0});
    record_->fingerprints.push_back(hash_text(node.origins.front()));
}

}  // namespace headway
