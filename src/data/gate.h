// The gate: which differences between an engine's outputs and the reference are acceptable. Metric and tolerance per
// output; whoever fails it cannot win.
//
// Without the user's word the criteria follow the element type of the output:
//   f64, f32    rel_l2 <= 1e-3 and max_rel <= 0.05
//   f16         rel_l2 <= 4e-3 and max_rel <= 0.2          four units in the last place of the type, as its own
//   bf16        rel_l2 <= 3e-2 and max_rel <= 1            rounding already costs one
//   integers    no mismatch at all; the same for floating point of 8 bits or fewer
// An fp32 engine that only reorders sums, Winograd F(4,3) included, stays below a tenth of the first; a wrong operator,
// constant or axis is far above. rel_l2 alone would let one wrong element in a million pass, hence max_rel, which is
// relative to the larger of the element and the rms of the output, so that elements near zero do not decide. NaN and
// infinities must stand at the same places under every criterion.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tensor/compare.h"

namespace headway {

enum class Metric { max_abs, max_rel, rel_l2, cosine, mismatches };

std::string_view to_string(Metric metric);
// UserError for unknown words.
Metric metric_from_string(std::string_view word);

// max_abs, max_rel, rel_l2 and mismatches may be at most the tolerance, cosine at least.
struct Criterion {
    Metric metric = Metric::rel_l2;
    double tolerance = 1e-3;
    bool accepts(const Difference& difference) const;
    double measured(const Difference& difference) const;
    std::string text() const;  // "rel_l2 <= 0.001"
};

struct Gate {
    double rtol = 1e-3, atol = 1e-5;  // what counts as a mismatch
    std::optional<Criterion> stated;  // by the user, for all outputs
    std::map<std::string, Criterion> by_output;

    std::vector<Criterion> criteria(const std::string& output, ElementType type) const;
};

// The gate from --rtol, --atol, --metric and --tolerance. Tolerances of mismatches without a metric mean numpy's
// allclose: no mismatch is accepted. `metric` may be "name=metric" for one output, with "name=tolerance" beside it.
struct GateOptions {
    std::optional<double> rtol = {}, atol = {};
    std::vector<std::string> metric = {}, tolerance = {};
};
Gate make_gate(const GateOptions& options);

struct OutputResult {
    std::string name;
    Difference difference;  // worst over the samples
    bool pass = true;
    double margin = 0;  // measured / tolerance of the tightest criterion, at most 1 when passed
    std::string why;    // what failed, with the sample: "rel_l2 0.02 > 0.001 (test_data_set_3)"
};

struct GateResult {
    bool pass = true;
    std::vector<OutputResult> outputs;
    void merge(const GateResult& other);
};

// One sample: outputs against references, in the order of `names`. A wrong type or shape fails the output.
GateResult judge(const Gate& gate, std::span<const std::string> names, std::span<const Tensor> got,
                 std::span<const Tensor> want, const std::string& sample);

// The form of `check --json`; numbers always, so that scripts need no special case.
void to_json(nlohmann::json& json, const GateResult& result);

}  // namespace headway
