// A builder that is slower on purpose: the native one, with a busy loop of 3 % of the time of each run behind it. For
// bench/honesty.py: an engine whose loss is known must be called SLOWER.
#include <chrono>

#include "workers/builder.h"

namespace headway {
namespace {

constexpr double burnt_share = 0.03;

class SlowedBuilder final : public Builder {
public:
    SlowedBuilder() : inner_(declared<BuilderKind>().find("native")->make()) {}

    BuilderVersion version() override { return {"slowed", inner_->version().version}; }
    OpenedModel open(const OpenRequest& request) override { return inner_->open(request); }
    BuilderDescription describe() override { return inner_->describe(); }
    BuiltEngine build(const std::string& route, const std::string& engine, const std::string& ledger) override {
        return inner_->build(route, engine, ledger);
    }
    void load(const std::string& engine, int streams) override { inner_->load(engine, streams); }
    void check(const std::string& engine, const std::string& data, const std::string& out) override {
        inner_->check(engine, data, out);
    }
    void run(const std::string& engine, int64_t iterations, int stream) override {
        using Clock = std::chrono::steady_clock;
        for (int64_t i = 0; i < iterations; ++i) {
            const Clock::time_point begin = Clock::now();
            inner_->run(engine, 1, stream);
            const Clock::time_point end = Clock::now();
            while (Clock::now() - end < (end - begin) * burnt_share) continue;
        }
    }
    std::vector<StepTime> profile(const std::string& engine, int64_t iterations) override {
        return inner_->profile(engine, iterations);
    }

private:
    std::unique_ptr<Builder> inner_;
};

const BuilderKind slowed{"slowed", "Headway's own compiler, its engines 3 % slower on purpose",
                         [] { return std::unique_ptr<Builder>(new SlowedBuilder); }};

}  // namespace
}  // namespace headway
