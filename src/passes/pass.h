// A pass: one graph rewrite in a file of its own, its knobs declared above it. The pipeline (pipeline.cpp) is the
// order. The manager times each pass, verifies the graph after it (debug builds), skips optional passes whose knob
// `<pass>=off`, writes decisions to the log, and cleans up dead nodes: passes need not.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "base/verdict.h"
#include "graph/graph.h"
#include "kernels/target.h"
#include "knobs/knob.h"
#include "knobs/route.h"
#include "ops/op.h"

namespace headway {

// One decision of a pass or of lowering at one site, kept for the ledger.
struct Decision {
    std::string where;      // pass name, or "lower"
    std::string site;       // anchor origin
    std::string candidate;  // what was considered: "fold", "conv.winograd4.avx2"
    bool taken = false;
    Verdict verdict;          // why not; yes when taken
    double predicted_us = 0;  // cost model, where there is one
};

struct PassContext {
    Graph& graph;
    const Route& route;
    const Target& target;
    const Registry<Op>& ops;
    std::vector<Decision>& decisions;

    void taken(std::string site, std::string candidate);
    void refused(std::string site, std::string candidate, Verdict verdict);
    // One of the two; whether it was taken.
    bool decided(std::string site, std::string candidate, Verdict verdict);
    std::string_view pass;  // set by the manager
};

enum class Phase { rewrite, format, group };

class Pass {
public:
    struct Fields {
        std::string name;  // verb_noun with a verb of: fold, fuse, eliminate, rewrite, choose, sink, merge, specialise
        std::string help;
        Phase phase = Phase::rewrite;
        // The pass's own on/off knob (`<name>=on|off`), nullptr for passes without which nothing can be built.
        const Knob<std::string_view>* enabled = nullptr;
        std::function<bool(PassContext&)> run;  // true when something changed
    };
    explicit Pass(Fields fields) : fields_(std::move(fields)) { announced<Pass>().push_back(this); }
    std::string_view name() const { return fields_.name; }
    const Fields& fields() const { return fields_; }

private:
    Fields fields_;
};

struct PassTiming {
    std::string pass;
    double seconds = 0;
    bool changed = false;
};

// Runs the whole pipeline on a bound graph. Afterwards the graph consists of plain nodes and Groups.
void run_pipeline(Graph& graph, const Route& route, const Target& target, const Registry<Op>& ops,
                  const Registry<Pass>& passes, std::vector<Decision>& decisions,
                  std::vector<PassTiming>* timings = nullptr);

// The names in pipeline order.
std::vector<std::string> pipeline_order();

}  // namespace headway
