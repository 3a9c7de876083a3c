// One trial: build a route, recognise engines that are known already, gate new ones. Every way it can end is recorded;
// none of them ends the study.
#pragma once

#include <set>
#include <string>

#include "tuner/session.h"

namespace headway {

class Trials {
public:
    explicit Trials(Session& session) : session_(session) {}

    // Runs one route that no finished trial has, or a default route again; a copy of the recorded trial. Throws
    // WorkerError only when interrupted.
    Trial run(const std::string& builder, const std::string& route);
    // Gates an engine that was built before the tuner was killed.
    void finish_gate(const std::string& fingerprint);
    // The engine's file, built again when it was deleted; false when that fails.
    bool ensure_engine(const std::string& fingerprint);
    // Builds a route; when it gives this engine, its file and ledger take the place of those kept. False when the route
    // gives another engine or none. Throws WorkerError only when interrupted.
    bool rebuild(const std::string& fingerprint, const std::string& route);
    // Builds the default route, whose engine this is, once more. Equal fingerprints of a builder that then gives
    // another engine, or none, are luck: they teach nothing about knobs.
    void check_repeats(const std::string& builder, const std::string& fingerprint);
    bool repeats(const std::string& builder) const { return !unrepeatable_.contains(builder); }
    // Files of engines that can no longer win.
    void delete_engine(const std::string& fingerprint);

    const Trial* find(const std::string& builder, const std::string& route) const;
    int builds() const { return builds_; }
    double longest_build_s() const { return longest_build_s_; }

private:
    struct Built {
        BuiltEngine engine;
        std::string path, ledger;
        double seconds = 0;
    };
    Built build(const std::string& builder, const std::string& route);
    void keep(const Built& built);
    void gate(const EngineRecord& engine);
    double build_deadline() const;

    Session& session_;
    int builds_ = 0;
    double longest_build_s_ = 0;
    std::set<std::string> unrepeatable_;  // builders
};

}  // namespace headway
