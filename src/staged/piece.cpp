#include "staged/piece.h"

namespace headway {

std::vector<Tensor> Piece::run(std::span<const Tensor> inputs) const {
    std::unique_ptr<Context> context;
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            context = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    if (context == nullptr) context = std::make_unique<Context>(engine_);
    std::vector<Tensor> outputs = context->run(inputs);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(context));
    return outputs;
}

}  // namespace headway
