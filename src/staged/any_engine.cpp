#include "staged/any_engine.h"

namespace headway {

AnyEngine load_engine(const std::string& path, const Catalogue& catalogue) {
    if (begins_as_staged_file(path)) return StagedEngine::load(path, catalogue);
    return Engine::load(path, catalogue.kernels);
}

AnyContext::AnyContext(const AnyEngine& engine) {
    if (const auto* planned = std::get_if<PlannedPointer>(&engine))
        planned_.emplace(*planned);
    else
        staged_ = std::get<StagedPointer>(engine);
}

std::vector<Tensor> AnyContext::run(std::span<const Tensor> inputs) {
    if (planned_) return planned_->run(inputs);
    return tensors_of(staged_->run(std::vector<Datum>(inputs.begin(), inputs.end())));
}

}  // namespace headway
