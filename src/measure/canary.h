// Canaries: small fixed pieces of work whose speed says how fast the machine is right now. They explain and they may
// drop a round; they never rescale a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace headway {

// Effective clock rate from a chain of dependent additions, in GHz; works where no frequency can be read.
double canary_ghz();

// Whether a canary's reading left the session's median. The median needs five readings before it judges.
class CanaryWatch {
public:
    // `what` names the reading, as "clock rate"; `most_change` is a share of the median.
    CanaryWatch(std::string what, double most_change) : what_(std::move(what)), most_change_(most_change) {}
    // Why the round has to go, as "clock rate 10.0 % below the session's".
    std::optional<std::string> record(double reading);
    // Of the last reading, relative to the median; 0 before there are enough.
    double change() const { return change_; }
    void allow(double most_change) { most_change_ = most_change; }

private:
    std::string what_;
    double most_change_;
    double change_ = 0;
    std::vector<double> readings_;
};

}  // namespace headway
