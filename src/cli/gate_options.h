// The options that state what differences from the reference are acceptable, on every command that judges outputs.
#pragma once

#include "data/gate.h"

namespace CLI {
class App;
}

namespace headway {

void add_gate_options(CLI::App& app, GateOptions& options);

}  // namespace headway
