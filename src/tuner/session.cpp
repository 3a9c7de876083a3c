#include "tuner/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr double open_deadline_s = 120;
constexpr double reference_share = 0.2;  // of the budget

// Fails now rather than after an hour of tuning.
void check_output(const std::string& output) {
    std::string probe = output + ".XXXXXX";
    const int file = ::mkostemp(probe.data(), O_CLOEXEC);
    const bool written = file >= 0 && ::write(file, "x", 1) == 1;
    const int error = errno;
    if (file >= 0) {
        ::close(file);
        ::unlink(probe.c_str());
    }
    if (!written) throw UserError("cannot write " + output + ": " + std::strerror(error));
    if (fs::is_directory(output)) throw UserError("cannot write " + output + ": it is a folder");
}

const std::string& checked(const TuneOptions& options) {
    if (!(options.budget_s > 0)) throw UserError("the budget must be positive");
    if (options.builders.empty()) throw UserError("no builder is given");
    if (!fs::is_regular_file(options.model.model)) throw UserError("no model file " + options.model.model);
    check_output(options.output);
    return options.study;
}

VisitsOptions visits_options(const TuneOptions& given) {
    VisitsOptions options;
    options.guards = given.guards;
    if (given.profile) options.rules = given.profile->rules;
    return options;
}

}  // namespace

Session::Session(const TuneOptions& given)
    : options(given),
      study_existed(fs::exists(given.study)),
      budget(given.budget_s, given.clock, given.stop),
      progress(budget),
      study(checked(given)),
      data({given.data, given.heldout, given.seed, given.scenario.batch}, study.folder() + "/data"),
      visits(visits_options(given), budget, given.seed + static_cast<uint64_t>(study.sessions())) {
    try {
        set_up();
    } catch (...) {
        arms.clear();
        std::error_code ignored;
        if (!study_existed) fs::remove_all(study.folder(), ignored);
        throw;
    }
    progress.begin();
}

void Session::set_up() {
    std::error_code error;
    fs::remove_all(scratch(), error);
    for (const char* folder : {"scratch", "engines", "ledgers", "references"}) {
        fs::create_directories(study.folder() + "/" + folder, error);
        if (error) throw UserError("cannot write in the study folder " + study.folder() + ": " + error.message());
    }
    progress.phase("opening the model");
    open_builders();
    prepare_data();
    check_header();
    study.start_session(options.budget_s);
    make_references();
}

Session::~Session() {
    arms.clear();
    std::error_code ignored;
    fs::remove_all(deliverable_ || study_existed ? scratch() : study.folder(), ignored);
}

void Session::has_deliverable(int64_t bytes) {
    std::error_code error;
    const fs::space_info space = fs::space(fs::path(options.output).parent_path(), error);
    if (!error && space.available < static_cast<uintmax_t>(bytes))
        throw UserError("cannot write " + options.output + ": the folder has " + std::to_string(space.available) +
                        " bytes left, an engine has " + std::to_string(bytes));
    deliverable_ = true;
    least_deadline_s_ = 0.5;
}

Arm& Session::arm(const std::string& builder) {
    for (Arm& arm : arms)
        if (arm.workshop->builder() == builder) return arm;
    throw UserError("the study has engines of the builder " + escaped(builder) + ", which is not among --builder");
}

double Session::deadline(double most) const {
    return std::max(least_deadline_s_, std::min(most, budget.left_by_clock()));
}

void Session::open_builders() {
    OpenRequest request = options.model;
    request.timing_data = data.first_sample();
    WorkerOptions worker;
    worker.command = options.worker_command;
    worker.scratch = scratch();
    worker.memory_limit = options.memory_limit;
    for (const std::string& builder : options.builders) {
        Arm arm;
        arm.workshop = std::make_unique<Workshop>(builder, worker, request);
        try {
            arm.described = asked_twice([&] {
                WorkerClient& client = arm.workshop->builder_worker(deadline(open_deadline_s));
                arm.version = client.version();
                return client.describe(deadline(open_deadline_s)).knobs;
            });
            arm.knobs = DescribedKnobs(arm.described);
        } catch (const WorkerError& error) {
            if (arms.empty()) throw UserError(options.model.model + ": " + error.what());
            progress.say("builder " + builder + " is left out: " + error.what());
            continue;
        }
        arm.space = options.space.empty() ? RouteSet::all(arm.knobs.registry())
                                          : RouteSet::parse(options.space, arm.knobs.registry());
        arms.push_back(std::move(arm));
    }
}

void Session::prepare_data() {
    const OpenedModel& opened = arms.front().workshop->opened();
    data.prepare(opened.inputs, opened.outputs);
    for (Arm& arm : arms) {
        arm.workshop->set_timing_data(data.tuning().front().folder);
        arm.workshop->close_builder_worker();
    }
}

void Session::check_header() {
    StudyHeader header;
    const OpenedModel& opened = arms.front().workshop->opened();
    header.model_hash = opened.model_hash;
    header.target = opened.target;
    header.data_hash = data.hash().hex();
    header.gate_hash = hash_text(gate_text(options.gate)).hex();
    header.threads = options.model.threads;
    header.scenario = options.scenario.text();
    Hasher space;
    for (const Arm& arm : arms) {
        header.builders.push_back(arm.workshop->builder() + " " + arm.version.version);
        space.add(arm.knobs.hash()).add(options.space);
    }
    header.space_hash = space.finish().hex();
    const bool fresh = study.is_new();
    study.check_header(header);
    for (const Arm& arm : arms)
        if (fresh) study.record_knobs(arm.workshop->builder(), arm.described);
}

void Session::make_references() {
    progress.phase("computing references");
    const double limit = budget.seconds() * reference_share;
    for (const StudySample& sample : data.tuning()) {
        const double left = limit - budget.spent();
        if (!sample.has_outputs && left <= 0) break;
        try {
            tuning.push_back({sample.folder, reference_for(sample, std::max(least_deadline_s_, left))});
        } catch (const WorkerError& error) {
            if (error.failure() != Failure::timeout || tuning.empty())
                throw UserError("no reference outputs for " + sample.folder + ": " + error.what());
            break;
        }
    }
    if (tuning.empty())
        throw UserError("the references do not fit a fifth of the budget: give outputs or a larger --budget");
    if (tuning.size() < data.tuning().size())
        study.record_note("references of " + std::to_string(data.tuning().size() - tuning.size()) +
                          " tuning samples did not fit a fifth of the budget");
}

std::string Session::reference_for(const StudySample& sample, double deadline_s) {
    if (sample.has_outputs) return sample.folder;
    const Hash key = Hasher().add(arms.front().workshop->opened().model_hash).add(sample.content).finish();
    const std::string folder = study.folder() + "/references/" + key.hex();
    if (fs::exists(folder)) return folder;
    const std::string fresh = scratch() + "/reference";
    for (size_t i = 0; i < arms.size(); ++i) {
        fs::remove_all(fresh);
        fs::create_directories(fresh);
        try {
            asked_twice(
                [&] { arms[i].workshop->builder_worker(deadline_s).reference(sample.folder, fresh, deadline_s); });
            break;
        } catch (const WorkerError& error) {
            if (error.failure() != Failure::unsupported || i + 1 == arms.size()) throw;
        }
    }
    fs::rename(fresh, folder);
    return folder;
}

std::vector<JudgedSample> Session::open_heldout() {
    std::vector<JudgedSample> judged;
    for (const StudySample& sample : data.write_heldout(scratch() + "/heldout"))
        judged.push_back({sample.folder, reference_for(sample, open_deadline_s)});
    return judged;
}

}  // namespace headway
