// Options that mean the same on every command that builds or runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workers/builder.h"

namespace CLI {
class App;
}

namespace headway {

struct BuildOptions {
    int threads = 0;                    // --threads N; 0 = as many as this process may use
    std::string target = "native";      // --target FILE|native|avx2|avx512
    std::vector<std::string> shapes;    // --shape name=1x3x224x224 or name=1x3x32..640x?, as given
    std::vector<std::string> values;    // --value name=16000 or name=1,2,3
    std::vector<std::string> variants;  // --variant FILE
};

// What a builder is asked to open: the model under these options; `sample` ("" = none) is one sample folder that binds
// what they leave open. UserError for a shape or value that is not name=..., a negative dimension, a name given twice.
OpenRequest open_request(const std::string& model, const BuildOptions& options, const std::string& sample);

// This program as a worker, with the limit of work that it has itself.
std::vector<std::string> worker_command();

void add_build_options(CLI::App& app, BuildOptions& options);
void add_json_option(CLI::App& app, bool& json);

}  // namespace headway
