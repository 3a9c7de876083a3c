#include "engine_kind.h"

#include "base/error.h"
#include "base/text.h"
#include "native_case.h"

namespace headway::conformance {
namespace {

std::vector<Datum> interpreted(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue) {
    return interpret_data(model, inputs, catalogue.ops);
}

std::vector<Datum> built(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue) {
    return as_data(NativeCase(model, inputs, catalogue).run(Route()));
}

}  // namespace

const std::vector<EngineKind>& engine_kinds() {
    static const std::vector<EngineKind> kinds{{"interpreter", "interpreter", interpreted},
                                               {"native", "native", built},
                                               {"staged", "interpreter", run_staged}};
    return kinds;
}

const EngineKind& engine_kind(const std::string& name) {
    std::vector<std::string> names;
    for (const EngineKind& kind : engine_kinds()) {
        if (kind.name == name) return kind;
        names.push_back(kind.name);
    }
    throw UserError("there is no engine \"" + name + "\" (there are " + join(names, ", ") + ")");
}

}  // namespace headway::conformance
