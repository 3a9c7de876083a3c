// What an engine holds beside its plan: shared by the contexts, never by others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/threads.h"

namespace headway {

struct PreparedStep {
    std::unique_ptr<Prepared> prepared;
    std::vector<int64_t> tiles;  // by phase
    int threads = 1;             // most that can help: 1 = on the caller
};

struct Engine::Impl {
    Plan plan;
    EngineInfo info;
    std::vector<PreparedStep> steps;
    int64_t workspace_bytes = 0, scratch_bytes = 0;  // the largest of any step, multiples of 64
    int64_t work = 0;                                // operations of a run, without those of references
    std::shared_ptr<Pool> pool;                      // absent when no step runs on several threads
};

// "step 3 (conv1)", for errors.
std::string step_place(const Plan& plan, size_t index);

}  // namespace headway
