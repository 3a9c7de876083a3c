#include "tuner/deliver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr double certify_deadline_s = 60;

std::string in_words(const Ruling& ruling, const Session& session) {
    const std::string resolution =
        ruling.resolution > 0 ? fmt::format(" (resolution {:.1f} %)", 100 * ruling.resolution) : "";
    switch (ruling.why) {
        case Why::none:
            break;
        case Why::budget:
            return session.budget.stopped() ? "stopped: ended by the user before a claim could be tested"
                                            : "budget: too little time to test a claim" + resolution;
        case Why::resolution:
            return "resolution: no gain above the margin was shown" + resolution;
        case Why::no_contender:
            return "no_contender: no engine inside the tolerance looked faster than the default" + resolution;
        case Why::control:
            return "control: a copy of the default engine differed from the default engine";
        case Why::dropped:
            return "dropped: the machine was disturbed in more than a fifth of the rounds";
        case Why::clock:
            return "clock: the clock of this machine is too coarse for this model";
    }
    return "";
}

Json peers_json(const Session& session, const Ruling& ruling) {
    Json peers = Json::array();
    for (const PeerGain& peer : ruling.peers) {
        const EngineRecord& engine = *session.study.find(peer.fingerprint);
        peers.push_back({{"builder", engine.builder},
                         {"route", engine.route},
                         {"speedup", peer.speedup.center},
                         {"low", peer.speedup.low},
                         {"high", peer.speedup.high}});
    }
    return peers;
}

// What stands in the engine file and in the study: how it was chosen and what was shown for it.
Json evidence(const Session& session, const Arena* arena, const Ruling& ruling, const EngineRecord& engine) {
    Json facts{{"verdict", to_string(ruling.finding)},
               {"speedup", ruling.speedup.center},
               {"low", ruling.speedup.low},
               {"high", ruling.speedup.high},
               {"confirm_visits", ruling.confirm_visits},
               {"report_visits", ruling.report_visits},
               {"estimate_is_biased", ruling.estimate_is_biased},
               {"p", ruling.p},
               {"level", ruling.level},
               {"resolution", ruling.resolution},
               {"finalists", ruling.finalists},
               {"peers", peers_json(session, ruling)},
               {"fingerprint", engine.fingerprint},
               {"accuracy_margin", engine.accuracy_margin},
               {"tuning", Json::parse(engine.gate_json)},
               {"heldout", Json::parse(ruling.heldout_json)},
               {"tolerance", gate_text(session.options.gate)},
               {"synthetic_data", session.data.synthetic()},
               {"has_heldout", session.data.has_heldout()}};
    if (arena != nullptr) {
        facts["margin"] = arena->control().margin;
        facts["control_p"] = arena->control().p;
        facts["control_spread"] = arena->control().spread;
    }
    facts["rounds"] = session.visits.rounds_run();
    facts["dropped_rounds"] = session.visits.rounds_dropped();
    facts["missing_guards"] = session.visits.missing_guards();
    return facts;
}

// The tested bytes, with the certificate appended, under a temporary name until they are complete.
void write_output(Session& session, const EngineRecord& engine, const std::string& certificate) {
    const std::string part = session.options.output + ".part";
    try {
        write_file_atomically(part, read_file(session.study.engine_path(engine.fingerprint)));
        Workshop& workshop = *session.arm(engine.builder).workshop;
        workshop.set_stop(nullptr);
        try {
            asked_twice(
                [&] { workshop.builder_worker(certify_deadline_s).certify(part, certificate, certify_deadline_s); });
        } catch (const WorkerError& error) {
            if (error.failure() != Failure::unsupported)
                throw UserError(std::string("cannot certify the engine: ") + error.what());
        }
        fs::rename(part, session.options.output);
    } catch (...) {
        ::unlink(part.c_str());
        throw;
    }
}

// For programs that use the other runtime and never heard of Headway.
void write_snippets(Session& session, const EngineRecord& engine, TuneResult& result) {
    try {
        Workshop& workshop = *session.arm(engine.builder).workshop;
        result.snippets = asked_twice([&] {
            return workshop.builder_worker(certify_deadline_s).snippets(session.options.output, certify_deadline_s);
        });
    } catch (const WorkerError& error) {
        session.study.record_note(std::string("no snippets: ") + error.what());
    }
    for (const Snippet& snippet : result.snippets) {
        const std::string extension = snippet.language == "python" ? ".py"
                                      : snippet.language == "c++"  ? ".cpp"
                                                                   : ".txt";
        result.files.push_back(session.study.folder() + "/snippet" + extension);
        write_file_atomically(result.files.back(), snippet.text);
    }
}

}  // namespace

std::string TuneResult::json() const {
    Json code = Json::object();
    for (const Snippet& snippet : snippets) code[snippet.language] = snippet.text;
    const Json line{
        {"verdict", to_string(finding)},
        {"speedup", speedup},
        {"low", low},
        {"high", high},
        {"builder", builder},
        {"route", route},
        {"engine", engine},
        {"trials", trials},
        {"builds", builds},
        {"seconds", seconds},
        {"accuracy", {{"tuning", Json::parse(tuning_accuracy)}, {"heldout", Json::parse(heldout_accuracy)}}},
        {"why", why},
        {"study", study},
        {"snippets", code}};
    return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TuneResult deliver(Session& session, const Arena* arena, Trials& trials, const Ruling& ruling,
                   const std::string& reference) {
    const std::string& fingerprint = ruling.winner.empty() ? reference : ruling.winner;
    if (!trials.ensure_engine(fingerprint)) throw UserError("the engine to deliver could not be built again");
    const EngineRecord& engine = *session.study.find(fingerprint);
    const Json facts = evidence(session, arena, ruling, engine);
    write_output(session, engine, facts.dump());

    TuneResult result;
    result.finding = ruling.finding;
    result.why = ruling.detail.empty() ? in_words(ruling, session) : ruling.detail;
    result.speedup = ruling.speedup.center;
    result.low = ruling.speedup.low;
    result.high = ruling.speedup.high;
    result.builder = engine.builder;
    result.route = engine.route;
    result.engine = session.options.output;
    result.study = session.study.folder();
    result.trials = static_cast<int>(session.study.trials().size());
    result.builds = trials.builds();
    result.seconds = session.budget.spent();
    result.tuning_accuracy = engine.gate_json;
    result.heldout_accuracy = ruling.heldout_json;

    write_snippets(session, engine, result);

    Json record = Json::parse(result.json());
    record["evidence"] = facts;
    session.study.record_result(record.dump());
    for (const auto& [print, other] : session.study.engines())
        if (print != fingerprint && print != reference) trials.delete_engine(print);
    return result;
}

}  // namespace headway
