// What all pieces of one staged engine are made with, and what they share: one pool of threads, one copy of each packed
// constant.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "compile/compile.h"
#include "runtime/engine.h"
#include "runtime/threads.h"

namespace headway {

// Run-time settings of a staged engine, chosen by knobs and kept in its file.
struct StagedSettings {
    int64_t kept_shapes = 8;
    int64_t compile_from = 4096;
    bool operator==(const StagedSettings&) const = default;
};

StagedSettings staged_settings_of(const Route& route);

class Workshop {
public:
    // `catalogue` outlives it.
    Workshop(const Catalogue& catalogue, Route route, Target target, StagedSettings settings);

    const Catalogue& catalogue() const { return catalogue_; }
    const StagedSettings& settings() const { return settings_; }

    // An engine for a graph whose shapes are all known. Unsupported when something in it has no kernel.
    std::shared_ptr<const Engine> engine(Graph graph);

    // Decisions and fingerprints of all that was made so far are appended to it until the next call; nullptr: not kept.
    struct Record {
        std::vector<Decision> ledger;
        std::vector<Hash> fingerprints;
    };
    void record(Record* record);
    // Then a build runs the engine, once: what is outside all loops need not be kept for another run.
    bool is_recording();
    // A node that is run by its reference, and why.
    void note_reference(const Node& node, const std::string& why);

private:
    std::shared_ptr<Pool> pool(const Settings& settings);
    void share_constants(Plan& plan);

    const Catalogue& catalogue_;
    const Route route_;
    const Target target_;
    const StagedSettings settings_;
    std::mutex mutex_;
    std::shared_ptr<Pool> pool_;
    std::map<Hash, std::weak_ptr<const Tensor>> constants_;
    Record* record_ = nullptr;
};

}  // namespace headway
