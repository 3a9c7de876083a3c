// The data that a study judges by, split into the samples that the search may see and those that only the winner meets.
// Tuning samples are written to the study's folder in one form (input_i.pb in the order of the model's inputs),
// whatever form they came in. Held-out samples are read once to be told apart and again when the winner meets them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/samples.h"
#include "workers/builder.h"

namespace headway {

// A sample folder as workers take it.
struct StudySample {
    std::string folder;
    Hash content;              // of the inputs
    bool has_outputs = false;  // trusted outputs lie beside the inputs
};

struct DataSource {
    std::string data;     // folder or file; "" = generated inputs
    std::string heldout;  // "" = every third sample of `data`
    uint64_t seed = 1;
    int64_t batch = 0;  // samples of `data` and `heldout` joined into one; 0 = as they are
};

class StudyData {
public:
    // `folder`: where the study keeps its data.
    StudyData(DataSource source, std::string folder) : source_(std::move(source)), folder_(std::move(folder)) {}

    // One sample as it lies on disk, for a builder that must bind shapes before the ports are known; "" when there is
    // none whose order is known.
    std::string first_sample();

    // Reads, checks against the ports, splits and writes the tuning samples.
    void prepare(const std::vector<PortDescription>& inputs, const std::vector<PortDescription>& outputs);

    bool synthetic() const { return source_.data.empty(); }
    const std::vector<StudySample>& tuning() const { return tuning_; }
    // Why no claim about speed can rest on the sample that engines are timed on, the first one; see too_uniform.
    const std::optional<std::string>& unfit_to_time() const { return unfit_to_time_; }
    bool has_heldout() const { return !source_.heldout.empty() || !heldout_.empty(); }
    Hash hash() const;

    // Writes the held-out samples to `folder`. UserError when one of them is a tuning sample.
    std::vector<StudySample> write_heldout(const std::string& folder) const;

private:
    std::vector<Sample> load(const std::string& path) const;
    std::vector<Sample> joined(std::vector<Sample> samples) const;
    StudySample write(const Sample& sample, const std::string& folder) const;

    DataSource source_;
    std::string folder_;
    std::vector<PortSpec> inputs_, outputs_;
    std::vector<StudySample> tuning_;
    std::vector<size_t> heldout_;  // positions in `data`
    std::optional<std::string> unfit_to_time_;
};

}  // namespace headway
