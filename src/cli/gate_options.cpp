#include "cli/gate_options.h"

#include <CLI/CLI.hpp>

namespace headway {

void add_gate_options(CLI::App& app, GateOptions& options) {
    app.add_option("--rtol", options.rtol, "Relative tolerance of an element (mismatch beyond it)")->type_name("X");
    app.add_option("--atol", options.atol, "Absolute tolerance of an element (mismatch beyond it)")->type_name("X");
    app.add_option("--metric", options.metric, "max_abs, max_rel, rel_l2, cosine or mismatches; or OUTPUT=METRIC")
        ->type_name("METRIC")
        ->allow_extra_args(false);
    app.add_option("--tolerance", options.tolerance, "Limit of the metric; or OUTPUT=LIMIT")
        ->type_name("X")
        ->allow_extra_args(false);
}

}  // namespace headway
