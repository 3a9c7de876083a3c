// The native builder inside this process, for commands that build or run without a worker.
#pragma once

#include <memory>
#include <string>

#include "cli/options.h"
#include "workers/builder.h"

namespace headway {

// Opened on the model; `sample` ("" = none) is one sample folder that binds what the options leave open.
std::unique_ptr<Builder> open_native(const std::string& model, const BuildOptions& options, const std::string& sample);

// A route as given on the command line: text, or @FILE.
std::string route_text(const std::string& argument);

}  // namespace headway
