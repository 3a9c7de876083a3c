// A compiled part of a staged engine: an engine for fixed shapes with the contexts of those who run it.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/engine.h"

namespace headway {

// Several threads may run one piece.
class Piece {
public:
    explicit Piece(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)) {}
    std::vector<Tensor> run(std::span<const Tensor> inputs) const;

private:
    std::shared_ptr<const Engine> engine_;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Context>> idle_;
};

}  // namespace headway
