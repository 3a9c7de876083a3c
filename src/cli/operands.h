// What bench and calibrate run: engines as they are, and models built on the spot by any builder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary.h"
#include "cli/options.h"
#include "tuner/bench.h"

namespace headway {

// E.hwe, MODEL, or BUILDER:MODEL[::ROUTE], taken apart.
struct OperandText {
    std::string builder = "native", path, route;
    bool is_engine = false;
};
// UserError for an engine with a route.
OperandText parse_operand(const std::string& text);

class Operands {
public:
    // `data` ("" = none): what is timed is its first sample, or `batch` (> 0) of its samples joined.
    Operands(const BuildOptions& options, const std::string& data, int64_t batch);

    // A model is built into a temporary engine file. UserError naming the operand.
    void add(const std::string& text);

    const std::vector<BenchOperand>& all() const { return operands_; }
    // Whether another process builds the first operand to the same fingerprint; nothing for an engine file.
    std::optional<bool> builds_repeat();
    // A file name that nobody else uses; gone at the end.
    std::string scratch_file(const std::string& name) const { return folder_.path() + "/" + name; }

private:
    const BuildOptions& options_;
    TemporaryFolder folder_;
    std::string sample_;
    std::vector<std::unique_ptr<Workshop>> workshops_;
    std::vector<BenchOperand> operands_;
    // Of the first operand, when it was built here.
    std::string first_route_, first_fingerprint_;
};

// The rules of the guards on this machine: of its profile or, where it has none, of a quick calibration with the first
// operand, which is then kept as the profile.
GuardRules machine_rules(const Operands& operands, int threads, const std::atomic<bool>* stop);

}  // namespace headway
