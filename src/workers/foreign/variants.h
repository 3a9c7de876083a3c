// The files that a user offers in the model's place: values of one knob of every builder that drives another runtime.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workers/foreign/recipe.h"

namespace headway {

class Variants {
public:
    static constexpr const char* knob = "model.variant";
    static constexpr const char* the_model_itself = "given";  // the knob's first value

    // UserError for what is no file, for two of one name, and for a name that no route can hold.
    void set(const std::vector<std::string>& files);
    // The knob's values besides the first: file names without folders.
    std::vector<std::string> names() const;
    // Puts the file that the recipe's settings name into the recipe; nothing when they name the model itself.
    void apply(Recipe& recipe) const;

private:
    std::map<std::string, std::string> paths_;  // by file name
};

}  // namespace headway
