#include "cli/operands.h"

#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/native_session.h"
#include "cli/runnable.h"
#include "tuner/calibrate.h"
#include "workers/foreign/recipe.h"

namespace headway {
namespace {

constexpr double start_deadline_s = 120, build_deadline_s = 600;

}  // namespace

OperandText parse_operand(const std::string& text) {
    OperandText operand;
    operand.path = text;
    for (const BuilderKind* kind : declared<BuilderKind>()) {
        const std::string prefix = std::string(kind->name()) + ":";
        if (!text.starts_with(prefix)) continue;
        operand.builder = kind->name();
        operand.path = text.substr(prefix.size());
    }
    if (const size_t at = operand.path.find("::"); at != std::string::npos) {
        operand.route = operand.path.substr(at + 2);
        operand.path.resize(at);
    }
    const std::optional<std::string> recipe = recipe_builder(operand.path);
    if (recipe) operand.builder = *recipe;
    operand.is_engine = recipe || is_engine_file(operand.path);
    if (operand.is_engine && !operand.route.empty())
        throw UserError(escaped(text) + ": an engine has its route already");
    return operand;
}

Operands::Operands(const BuildOptions& options, const std::string& data, int64_t batch)
    : options_(options), sample_(write_first_sample(data, folder_.path() + "/sample", batch)) {}

void Operands::add(const std::string& text) {
    const OperandText operand = parse_operand(text);
    const OpenRequest request = open_request(std::filesystem::absolute(operand.path).string(), options_, sample_);
    WorkerOptions worker;
    worker.command = worker_command();
    worker.scratch = folder_.path();
    workshops_.push_back(std::make_unique<Workshop>(operand.builder, worker, request));
    BenchOperand entry{text, request.model, workshops_.back().get()};
    try {
        WorkerClient& builder = workshops_.back()->builder_worker(start_deadline_s);
        if (!operand.is_engine) {
            entry.engine = scratch_file(std::to_string(operands_.size()) + ".hwe");
            const std::string route = route_text(operand.route);
            const BuiltEngine built = builder.build(route, entry.engine, "", build_deadline_s);
            if (operands_.empty()) {
                first_route_ = route;
                first_fingerprint_ = built.fingerprint;
            }
        }
    } catch (const WorkerError& error) {
        throw UserError(escaped(text) + ": " + error.what());
    }
    workshops_.back()->close_builder_worker();
    operands_.push_back(entry);
}

std::optional<bool> Operands::builds_repeat() {
    if (first_fingerprint_.empty()) return std::nullopt;
    Workshop& workshop = *workshops_.front();
    try {
        const BuiltEngine again = workshop.builder_worker(start_deadline_s)
                                      .build(first_route_, scratch_file("again.hwe"), "", build_deadline_s);
        workshop.close_builder_worker();
        return again.fingerprint == first_fingerprint_;
    } catch (const WorkerError& error) {
        throw UserError(operands_.front().name + ": " + error.what());
    }
}

GuardRules machine_rules(const Operands& operands, int threads, const std::atomic<bool>* stop) {
    if (const std::optional<MachineProfile> profile = load_profile(threads)) return profile->rules;
    std::cerr << "headway: this machine has no profile: a quick calibration first (better: headway calibrate)\n";
    CalibrateOptions options = quick_calibration();
    options.stop = stop;
    MachineProfile profile = calibrate(operands.all().front(), operands.scratch_file("copy.hwe"), options);
    profile.threads = threads;
    store_profile(profile);
    return profile.rules;
}

}  // namespace headway
