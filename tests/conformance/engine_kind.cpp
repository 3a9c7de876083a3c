#include "engine_kind.h"

#include "base/error.h"
#include "base/text.h"
#include "native_case.h"
#include "staged/staged_engine.h"

namespace headway::conformance {
namespace {

std::vector<Datum> interpreted(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue) {
    return interpret_data(model, inputs, catalogue.ops);
}

std::vector<Datum> built(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue) {
    return as_data(NativeCase(model, inputs, catalogue).run(Route()));
}

// Everything that can be is compiled, however small, and what the model leaves open stays open.
std::vector<Datum> staged(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue) {
    const Route route = Route::parse("staged.compile_from=0", catalogue.knobs);
    const EngineFile file = build_staged(model, {}, route, Target::native(), catalogue, {}, {});
    return StagedEngine::make(file, catalogue)->run(inputs);
}

}  // namespace

const std::vector<EngineKind>& engine_kinds() {
    static const std::vector<EngineKind> kinds{{"interpreter", interpreted}, {"native", built}, {"staged", staged}};
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
