// A wrong kernel and a kernel that is fast only by itself must both lose, each with its reason in the log.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/temporary.h"
#include "onnx/export.h"
#include "support/graph_engine.h"

namespace headway {
namespace {

using Json = nlohmann::json;

std::vector<Json> read_log(const std::string& study) {
    std::vector<Json> events;
    std::istringstream lines(read_file(study + "/log.jsonl"));
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) events.push_back(Json::parse(line));
    return events;
}

// Fingerprint of the trial of a route.
std::string fingerprint(const std::vector<Json>& log, const std::string& route) {
    for (const Json& event : log)
        if (event.at("event") == "trial" && event.at("route") == route) return event.at("fingerprint");
    return "";
}

TEST(Planted, WrongAndOnlyFastAloneAreBothRejected) {
    const char* program = std::getenv("HEADWAY_PLANTED");
    ASSERT_NE(program, nullptr) << "HEADWAY_PLANTED names the program with planted kernels";
    const TemporaryFolder folder;
    const std::string model = folder.path() + "/model.onnx", study = folder.path() + "/study";
    write_file_atomically(model, export_onnx(testing::witness_graph("conv_chain")));
    const std::string command = std::string(program) + " tune " + model +
                                " --space 'planted.kernel=[off|wrong|slow]' --budget 150s" + " --study " + study +
                                " -o " + folder.path() + "/best.hwe >" + folder.path() + "/out 2>&1";
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 1) << read_file(folder.path() + "/out");

    const std::vector<Json> log = read_log(study);
    const std::string wrong = fingerprint(log, "planted.kernel=wrong"), slow = fingerprint(log, "planted.kernel=slow");
    ASSERT_FALSE(wrong.empty());
    ASSERT_FALSE(slow.empty());
    bool wrong_failed_the_gate = false, slow_passed_the_gate = false;
    std::vector<double> slow_values;
    for (const Json& event : log) {
        if (event.at("event") == "gate" && event.at("fingerprint") == wrong && !event.at("gate").at("pass")) {
            wrong_failed_the_gate = true;
            EXPECT_NE(event.at("gate").at("outputs").at(0).at("why").get<std::string>().find("rel_l2"),
                      std::string::npos);
        }
        if (event.at("event") == "gate" && event.at("fingerprint") == slow)
            slow_passed_the_gate = event.at("gate").at("pass");
        if (event.at("event") != "visit") continue;
        const std::vector<std::string> engines = event.at("engines");
        EXPECT_EQ(std::ranges::find(engines, wrong), engines.end()) << "an engine that failed the gate was timed";
        const auto at = std::ranges::find(engines, slow);
        if (at != engines.end()) slow_values.push_back(event.at("values").at(at - engines.begin() - 1));
    }
    EXPECT_TRUE(wrong_failed_the_gate);
    EXPECT_TRUE(slow_passed_the_gate);
    // Right, but timed as a whole engine it lost: the log holds its visits, and the default engine is delivered.
    ASSERT_FALSE(slow_values.empty());
    for (double value : slow_values) EXPECT_LT(value, 0);
    const Json report = Json::parse(read_file(study + "/report.json"));
    EXPECT_EQ(report.at("result").at("route"), "");
    EXPECT_EQ(report.at("result").at("verdict"), "NO_GAIN");
}

}  // namespace
}  // namespace headway
