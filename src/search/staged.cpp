#include "search/phase.h"

namespace headway {
namespace {

// Of all builds, tried and affordable, for single changes; what they teach must still be used.
constexpr double share_of_singles = 0.5;
// Of each later batch, for random changes: composition alone never leaves what the single changes showed.
constexpr double share_of_random = 0.25;

class Staged final : public Phase {
public:
    void fill(Batch& batch) const override {
        const double tried = static_cast<double>(batch.lessons().trials());
        const double all = tried + batch.affordable();
        if (tried < share_of_singles * all) singles_->fill(batch);
        if (batch.full()) return;
        if (batch.empty() && batch.rng().chance(share_of_random)) random_->fill(batch);
        if (batch.empty()) sites_->fill(batch);
        combinations_->fill(batch);
        singles_->fill(batch);
        random_->fill(batch);
    }

private:
    std::unique_ptr<Phase> singles_ = one_at_a_time(), combinations_ = combinations(), sites_ = sites(),
                           random_ = random_restarts();
};

}  // namespace

std::unique_ptr<Phase> staged() { return std::make_unique<Staged>(); }

}  // namespace headway
