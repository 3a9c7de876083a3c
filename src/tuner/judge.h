// The tuner's gate: runs an engine on samples in a fresh process and compares its raw outputs with the references. No
// builder grades itself.
#pragma once

#include <string>
#include <vector>

#include "data/gate.h"
#include "tuner/workshop.h"

namespace headway {

// A sample and the folder of its trusted outputs.
struct JudgedSample {
    std::string data;
    std::string reference;
};

struct Judgement {
    bool passed = false;
    double margin = 0;          // share of the tolerance left; 0 when it failed
    std::string reason;         // the first output that failed, with its figures
    std::string json = "null";  // per output the worst over the samples, as `check --json`
};

// Runs `engine` in one new process on all samples; output k of sample s goes to out/s. Throws WorkerError.
void produce_outputs(const Workshop& workshop, const std::string& engine, const std::vector<JudgedSample>& samples,
                     const std::string& out, double deadline_s);

// The outputs in `out`, as produce_outputs wrote them, against the references.
Judgement judge_outputs(const std::vector<JudgedSample>& samples, const std::string& out, const Gate& gate);

// The gate in one line, for the study's header and the report.
std::string gate_text(const Gate& gate);

// Whether two output folders hold the same bits.
bool same_outputs(const std::string& a, const std::string& b);

}  // namespace headway
