// What an OpenVINO engine does, as far as OpenVINO tells: the fingerprint and the ledger come from it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "workers/openvino/compiled.h"

namespace headway::openvino {

struct Evidence {
    std::string version;  // of OpenVINO
    std::vector<PortDescription> inputs;
    std::vector<NodeTime> nodes;                  // in the order of execution; times are not used
    std::map<std::string, std::string> settings;  // that act at run time, with the values in force
};

// Of a model compiled with PERF_COUNT, after a run of the caller.
Evidence gather_evidence(const Api& api, const CompileRequest& request, const CompiledModel& model,
                         const Caller& caller);

// The constants' values are not in it.
Hash timing_key(const Evidence& evidence);

std::string ledger_text(const Evidence& evidence, const std::map<std::string, std::string>& settings);

}  // namespace headway::openvino
