#include "workers/foreign/variants.h"

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "onnx/model_hash.h"

namespace headway {

namespace fs = std::filesystem;

void Variants::set(const std::vector<std::string>& files) {
    paths_.clear();
    for (const std::string& file : files) {
        const std::string name = fs::path(file).filename().string();
        if (name == the_model_itself || name.find_first_of(",#\n[|]\"=@ ") != std::string::npos)
            throw UserError("the variant " + escaped(file) + " cannot be named in a route: rename the file");
        if (!paths_.emplace(name, fs::absolute(file).string()).second)
            throw UserError("two variants have the file name " + escaped(name));
        if (!fs::is_regular_file(file)) throw UserError("the variant " + escaped(file) + " is no file");
    }
}

std::vector<std::string> Variants::names() const {
    std::vector<std::string> names;
    for (const auto& [name, path] : paths_) names.push_back(name);
    return names;
}

void Variants::apply(Recipe& recipe) const {
    const auto setting = recipe.settings.find(knob);
    if (setting == recipe.settings.end() || setting->second == the_model_itself) return;
    recipe.variant = paths_.at(setting->second);
    recipe.variant_hash = model_hash(recipe.variant).hex();
}

}  // namespace headway
