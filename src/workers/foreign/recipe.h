// The engine file of a builder that drives another runtime: how to make the engine again, not the engine itself. What
// such a runtime compiles lives in its memory only, so the file names the model, its hash and every setting; loading
// builds. JSON text:
//
//     {"headway_recipe": 1, "builder": "onnxruntime", "builder_version": "0.1.0", "runtime_version": "1.32.0",
//      "model": "/models/x.onnx", "model_hash": "...", "variant": "", "variant_hash": "",
//      "inputs": [{"name": "x", "type": "f32", "dims": [1, 3, 224, 224]}],
//      "route": "threads.intra=1", "settings": {"threads.intra": "1", ...},
//      "fingerprint": "...", "timing_key": "...", "certificate": {...}}
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workers/builder.h"

namespace headway {

inline constexpr int recipe_version = 1;

struct Recipe {
    std::string builder, builder_version, runtime_version;
    std::string model, model_hash;                // absolute path; as model_hash() gives it
    std::string variant, variant_hash;            // the file that is run in the model's place; empty: the model itself
    std::vector<PortDescription> inputs;          // that it was built for: all extents known
    std::string route;                            // canonical
    std::map<std::string, std::string> settings;  // every knob's value, the default ones too
    std::string fingerprint, timing_key;
    std::string certificate;  // JSON text; empty: none
};

// Temporary file, fsync, rename. The same recipe gives the same bytes.
void write_recipe(const std::string& path, const Recipe& recipe);

// UserError naming the file and the field that is missing, unknown, of another type or too long.
Recipe read_recipe(const std::string& path);

// The same, of an engine that this version of a builder's runtime can make again: another version builds another engine
// than the one that was measured. `runtime` is its name for messages.
Recipe read_own_recipe(const std::string& path, const std::string& builder, const std::string& runtime,
                       const std::string& version);

// Which builder's recipe a file is, from its beginning; nothing for other files and for those that cannot be read.
std::optional<std::string> recipe_builder(const std::string& path);

// Sets the certificate (JSON text) and nothing else.
void set_recipe_certificate(const std::string& path, const std::string& json);

// The file that the recipe at `path` runs: the model, or its variant, where it was, else beside the recipe under the
// same name. UserError when it is at neither place, or is no longer the file whose hash the recipe holds.
std::string find_recipe_model(const Recipe& recipe, const std::string& path);

}  // namespace headway
