// Options that mean the same on every command that builds or runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace headway {

struct BuildOptions {
    int threads = 0;                  // --threads N; 0 = as many as this process may use
    std::string target = "native";    // --target FILE|native|avx2|avx512
    std::vector<std::string> shapes;  // --shape name=1x3x224x224, as given
    std::vector<std::string> values;  // --value name=16000 or name=1,2,3

    using Named = std::pair<std::string, std::vector<int64_t>>;
    // UserError for text that is not name=..., a negative dimension, or a name given twice.
    std::vector<Named> parsed_shapes() const;
    std::vector<Named> parsed_values() const;
    // The text of the target: the file's content when --target names a file.
    std::string target_text() const;
};

void add_build_options(CLI::App& app, BuildOptions& options);
void add_json_option(CLI::App& app, bool& json);

}  // namespace headway
