#include "search/strategy.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "search/phase.h"
#include "search/site_savings.h"

namespace headway {
namespace {

using MakePhase = std::unique_ptr<Phase> (*)();
constexpr std::array<std::pair<std::string_view, MakePhase>, 6> phases{{{"combinations", combinations},
                                                                        {"forest", forest_search},
                                                                        {"one_at_a_time", one_at_a_time},
                                                                        {"random_restarts", random_restarts},
                                                                        {"sites", sites},
                                                                        {"staged", staged}}};

class PhaseStrategy final : public Strategy {
public:
    PhaseStrategy(std::string_view name, std::unique_ptr<Phase> phase, RouteSet space, uint64_t seed)
        : name_(name), phase_(std::move(phase)), set_(std::move(space)), graph_wide_(set_), seed_(seed) {}

    std::string_view name() const override { return name_; }

    std::vector<Proposal> propose(std::span<const Observation> history, const Ask& ask) const override {
        const Space space(with_site_axes(set_, site_savings(Lessons(graph_wide_, history)), history));
        const Lessons lessons(space, history);
        Batch batch(lessons, ask, seed_);
        phase_->fill(batch);
        return batch.take();
    }

private:
    std::string_view name_;
    std::unique_ptr<Phase> phase_;
    RouteSet set_;
    Space graph_wide_;  // without the site axes that step times suggest
    uint64_t seed_;
};

}  // namespace

std::vector<std::string> strategy_names() {
    std::vector<std::string> names;
    for (const auto& [name, make] : phases) names.emplace_back(name);
    return names;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, RouteSet space, uint64_t seed) {
    for (const auto& [known, make] : phases)
        if (known == name) return std::make_unique<PhaseStrategy>(known, make(), std::move(space), seed);
    throw UserError("unknown search strategy \"" + escaped(name) + "\"; there are " + join(strategy_names(), ", "));
}

}  // namespace headway
