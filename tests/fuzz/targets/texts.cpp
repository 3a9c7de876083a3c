// Lines and JSON: routes, targets, machine profiles, messages of workers, the log of a study.
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "base/temporary.h"
#include "graphs.h"
#include "kernels/target.h"
#include "knobs/route.h"
#include "measure/machine_profile.h"
#include "target.h"
#include "tuner/replay.h"
#include "tuner/report.h"
#include "tuner/study.h"
#include "workers/protocol.h"

namespace headway::fuzz {
namespace {

void read_route(std::string_view bytes) {
    const Route route = Route::parse(bytes, catalogue().knobs);
    HEADWAY_CHECK(Route::parse(route.text(), catalogue().knobs) == route);
    const std::vector<std::string> sites{"Conv#0", "/backbone/conv", "a,b\"c"};
    route.check_sites(sites);
}

const Target route_target{{.name = "route", .run = read_route}};

const Target route_set_target{
    {.name = "route_set", .run = [](std::string_view bytes) { RouteSet::parse(bytes, catalogue().knobs); }}};

void read_target(std::string_view bytes) {
    const headway::Target target = headway::Target::parse(bytes);
    HEADWAY_CHECK(headway::Target::parse(target.text()).text() == target.text());
}

const Target target_target{{.name = "target", .run = read_target}};

void read_profile(std::string_view bytes) {
    const MachineProfile profile = profile_from_json(std::string(bytes));
    profile_json(profile);
    profile.best_rounds();
    profile.resolution(8);
}

const Target profile_target{{.name = "machine_profile", .run = read_profile}};

// A message may be of any kind; members that are missing or of another type are the library's exceptions, which both
// ends of the protocol answer.
template <class Message>
void read_as(const nlohmann::json& json) {
    try {
        nlohmann::json(json.get<Message>()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    } catch (const nlohmann::json::exception&) {
    }
}

void read_message(std::string_view bytes) {
    const nlohmann::json json = from_line(bytes, "/nowhere");
    read_as<OpenRequest>(json);
    read_as<OpenedModel>(json);
    read_as<BuilderVersion>(json);
    read_as<BuilderDescription>(json);
    read_as<BuiltEngine>(json);
    read_as<StepTime>(json);
    read_as<Snippet>(json);
    read_as<BlockTimes>(json);
    read_as<BlockRequest>(json);
}

const Target worker_target{{.name = "worker_message", .run = read_message}};

void read_study(std::string_view bytes) {
    static const TemporaryFolder folder;
    std::ofstream(folder.path() + "/log.jsonl", std::ios::binary) << bytes;
    const Study study = Study::read(folder.path());
    replay(study);
    report_json(study);
    report_markdown(study);
}

const Target study_target{{.name = "study_log", .run = read_study}};

}  // namespace
}  // namespace headway::fuzz
