#include "case_set.h"

#include "base/error.h"
#include "base/text.h"

namespace headway::conformance {

const std::vector<CaseSet>& known_sets() {
    static const std::vector<CaseSet> sets{{"onnx-1.12", HEADWAY_CASES_1_12}, {"onnx-1.22", HEADWAY_CASES_1_22}};
    return sets;
}

const CaseSet& known_set(const std::string& name) {
    std::vector<std::string> names;
    for (const CaseSet& set : known_sets()) {
        if (set.name == name) return set;
        names.push_back(set.name);
    }
    throw UserError("there is no set \"" + escaped(name) + "\" (there are " + join(names, ", ") + ")");
}

std::string list_file(const CaseSet& set, const std::string& list) {
    return std::string(HEADWAY_CASE_LISTS) + "/" + set.name + "." + list + ".txt";
}

}  // namespace headway::conformance
