#include "tuner/study_data.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/input_check.h"
#include "data/batch.h"
#include "workers/sample_files.h"

namespace headway {
namespace {

constexpr int synthetic_samples = 3;

std::vector<NamedTensor> named(const std::vector<PortSpec>& ports, const std::vector<Tensor>& tensors) {
    std::vector<NamedTensor> list;
    for (size_t i = 0; i < tensors.size(); ++i) list.push_back({ports[i].name, tensors[i]});
    return list;
}

std::string numbered(const std::string& folder, size_t number) {
    return folder + "/test_data_set_" + std::to_string(number);
}

}  // namespace

std::string StudyData::first_sample() {
    if (source_.data.empty()) return "";
    const std::vector<RawSample> samples = read_samples(source_.data);
    const RawSample raw = source_.batch > 0 ? batch_first(samples, source_.batch) : samples.front();
    if (raw.by_name) return "";
    const std::string folder = folder_ + "/first";
    write_sample(folder, raw.inputs, {});
    return folder;
}

// Before they are joined, samples have any extent where the ports have that of a batch.
std::vector<Sample> StudyData::load(const std::string& path) const {
    std::vector<PortSpec> inputs = inputs_, outputs = outputs_;
    for (std::vector<PortSpec>* ports : {&inputs, &outputs})
        for (PortSpec& port : *ports)
            if (source_.batch > 0 && port.dims && !port.dims->empty()) port.dims->front() = -1;
    return load_samples(path, inputs, outputs);
}

// Joined after they were split: no sample stands on both sides.
std::vector<Sample> StudyData::joined(std::vector<Sample> samples) const {
    return source_.batch > 0 && !synthetic() ? batch_samples(samples, source_.batch) : samples;
}

StudySample StudyData::write(const Sample& sample, const std::string& folder) const {
    write_sample(folder, named(inputs_, sample.inputs), named(outputs_, sample.outputs));
    return {folder, sample.hash(), !sample.outputs.empty()};
}

void StudyData::prepare(const std::vector<PortDescription>& inputs, const std::vector<PortDescription>& outputs) {
    inputs_ = port_specs(inputs);
    outputs_ = port_specs(outputs);
    const std::vector<Sample> samples =
        synthetic() ? generate_samples(inputs_, synthetic_samples, source_.seed) : load(source_.data);
    Split split;
    if (source_.heldout.empty())
        split = split_samples(samples);
    else
        for (size_t i = 0; i < samples.size(); ++i) split.tuning.push_back(i);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    std::vector<Sample> tuning;
    for (const size_t i : split.tuning) tuning.push_back(samples[i]);
    for (const Sample& sample : joined(std::move(tuning))) {
        if (tuning_.empty()) unfit_to_time_ = too_uniform(sample, inputs_);
        tuning_.push_back(write(sample, numbered(folder_ + "/tuning", tuning_.size())));
    }
    heldout_ = std::move(split.heldout);
}

Hash StudyData::hash() const {
    Hasher hasher;
    for (const StudySample& sample : tuning_) hasher.add(sample.content);
    return hasher.finish();
}

std::vector<StudySample> StudyData::write_heldout(const std::string& folder) const {
    std::vector<Sample> samples;
    if (!source_.heldout.empty()) {
        samples = load(source_.heldout);
    } else {
        const std::vector<Sample> all =
            synthetic() ? generate_samples(inputs_, synthetic_samples, source_.seed) : load(source_.data);
        for (const size_t i : heldout_) samples.push_back(all.at(i));
    }
    std::vector<StudySample> written;
    for (const Sample& sample : joined(std::move(samples))) {
        const auto same = [&](const StudySample& other) { return other.content == sample.hash(); };
        if (std::any_of(tuning_.begin(), tuning_.end(), same))
            throw UserError("the held-out sample " + escaped(sample.origin) + " is also among the tuning samples");
        written.push_back(write(sample, numbered(folder, written.size())));
    }
    return written;
}

}  // namespace headway
