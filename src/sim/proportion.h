// How often something happened, with the interval of Clopper and Pearson (Biometrika 1934): exact for any count.
#pragma once

namespace headway {

struct Proportion {
    int hits = 0;
    int trials = 0;
    double share() const { return trials > 0 ? static_cast<double>(hits) / trials : 0; }
    // One-sided bounds, each exceeded with at most 1 - confidence. Without trials nothing is known: 0 and 1.
    double lower(double confidence = 0.95) const;
    double upper(double confidence = 0.95) const;
};

}  // namespace headway
