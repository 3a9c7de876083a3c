// What the trials of a study say about each knob: tried, refused, and whether it changed the engine at all.
#pragma once

#include <string>
#include <vector>

#include "tuner/study.h"

namespace headway {

struct KnobEvidence {
    std::string builder, knob, family;
    std::vector<std::string> tried, never_tried;  // values other than the default
    int trials = 0;                               // with a value other than the default
    int built = 0;                                // of these
    int same = 0;                                 // pairs of routes that differ in this knob alone and gave one engine
    int different = 0;                            // pairs that differ in this knob alone and gave two
    bool inert() const { return same > 0 && different == 0; }
};

std::vector<KnobEvidence> knob_evidence(const Study& study);

}  // namespace headway
