// The claim protocol run many times on a made-up machine: how often it claims, how often wrongly, and whether the gains
// that it prints are true.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/proportion.h"
#include "sim/protocol.h"

namespace headway {

// True speed-ups of the candidates.
enum class Truth {
    identical,  // all are the reference
    slower,     // up to 0.6 % slower
    mixed,      // a tenth faster by half to one and a half times the gain, 55 % identical, the rest up to 5 % slower
    one,        // one faster by the gain, the others identical
};
std::string_view to_string(Truth truth);
// UserError for an unknown word.
Truth truth_from_string(const std::string& word);
std::vector<double> true_gains(Truth truth, int candidates, double gain, Rng& rng);

struct ClaimsOptions {
    Noise noise;
    Truth truth = Truth::identical;
    int runs = 2000;
    int candidates = 100;
    double gain = 0.02;
    ProtocolRules rules;
    uint64_t seed = 1;
    int threads = 1;  // the result does not depend on it
};

struct ClaimsSummary {
    Proportion unfit, unstable;
    Proportion claims;        // of the runs
    Proportion false_claims;  // of the runs: a claimed engine whose true gain does not exceed the run's margin
    Proportion covered;       // of the claims: the printed interval holds the true gain
    double race_bias = 0;     // mean over the claims of estimate - truth, log speed-up; 0 without claims
    double report_bias = 0;
    double report_bias_error = 0;  // standard error of the latter
    double regret = 0;             // of what is delivered against the best candidate or the default, mean over the runs
    double margin = 0;             // mean
    double claim_visits = 0;       // confirm visits of the claimed engine, mean over the claims
    double blocks = 0;             // of a run, mean
};

ClaimsSummary run_claims(const ClaimsOptions& options);

}  // namespace headway
