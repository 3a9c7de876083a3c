// An engine of either kind: its file says which. Whoever loads engines of users comes through here.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "runtime/engine.h"
#include "staged/staged_engine.h"

namespace headway {

using PlannedPointer = std::shared_ptr<const Engine>;
using StagedPointer = std::shared_ptr<const StagedEngine>;
using AnyEngine = std::variant<PlannedPointer, StagedPointer>;

// `catalogue` outlives the engine.
AnyEngine load_engine(const std::string& path, const Catalogue& catalogue);

// One caller; not thread-safe.
class AnyContext {
public:
    explicit AnyContext(const AnyEngine& engine);
    // UserError naming the input whose type or shape the engine does not take.
    std::vector<Tensor> run(std::span<const Tensor> inputs);
    // What also runs on memory of its caller; nullptr for an engine of open shapes.
    Context* planned() { return planned_ ? &*planned_ : nullptr; }

private:
    std::optional<Context> planned_;
    StagedPointer staged_;
};

}  // namespace headway
