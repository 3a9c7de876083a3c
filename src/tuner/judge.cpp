#include "tuner/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "tensor/tensor_proto.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

std::string sample_folder(const std::string& out, size_t sample) { return out + "/" + std::to_string(sample); }

Hash hash_of_folder(const fs::path& folder) {
    Hasher hasher;
    for (int sample = 0; fs::exists(folder / std::to_string(sample)); ++sample)
        for (int i = 0;; ++i) {
            const fs::path file = folder / std::to_string(sample) / ("output_" + std::to_string(i) + ".pb");
            if (!fs::exists(file)) break;
            const MappedFile bytes(file.string());
            hasher.add_bytes(bytes.bytes().data(), bytes.bytes().size());
        }
    return hasher.finish();
}

struct Outputs {
    std::vector<std::string> names;
    std::vector<Tensor> tensors;
};

// output_i.pb of a folder.
Outputs read_outputs(const std::string& folder) {
    Outputs outputs;
    for (int i = 0;; ++i) {
        const std::string path = folder + "/output_" + std::to_string(i) + ".pb";
        if (!fs::exists(path)) return outputs;
        const auto bytes = std::make_shared<const std::string>(read_file(path));
        NamedTensor named = read_tensor_proto(*bytes, bytes);
        outputs.names.push_back(named.name.empty() ? "output_" + std::to_string(i) : named.name);
        outputs.tensors.push_back(std::move(named.tensor));
    }
}

}  // namespace

void produce_outputs(const Workshop& workshop, const std::string& engine, const std::vector<JudgedSample>& samples,
                     const std::string& out, double deadline_s) {
    fs::remove_all(out);
    const auto worker = workshop.start(deadline_s);
    worker->load(engine, 1, deadline_s);
    for (size_t i = 0; i < samples.size(); ++i) {
        fs::create_directories(sample_folder(out, i));
        worker->check(engine, samples[i].data, sample_folder(out, i), deadline_s);
    }
}

Judgement judge_outputs(const std::vector<JudgedSample>& samples, const std::string& out, const Gate& gate) {
    GateResult total;
    for (size_t i = 0; i < samples.size(); ++i) {
        const Outputs want = read_outputs(samples[i].reference), got = read_outputs(sample_folder(out, i));
        if (got.tensors.size() != want.tensors.size()) {
            Judgement missing;
            missing.reason = std::to_string(got.tensors.size()) + " outputs where the reference has " +
                             std::to_string(want.tensors.size());
            return missing;
        }
        total.merge(judge(gate, got.names, got.tensors, want.tensors, fs::path(samples[i].data).filename().string()));
    }
    Judgement judgement;
    judgement.passed = total.pass && !total.outputs.empty();
    judgement.json = nlohmann::json(total).dump();
    double used = 0;
    for (const OutputResult& output : total.outputs) {
        used = std::max(used, output.margin);
        if (!output.pass && judgement.reason.empty()) judgement.reason = escaped(output.name) + ": " + output.why;
    }
    judgement.margin = judgement.passed ? 1 - used : 0;
    return judgement;
}

std::string gate_text(const Gate& gate) {
    std::string text = fmt::format("rtol {} atol {}", gate.rtol, gate.atol);
    if (gate.stated)
        text += ", " + gate.stated->text();
    else
        text += ", criteria by element type";
    for (const auto& [output, criterion] : gate.by_output) text += ", " + escaped(output) + ": " + criterion.text();
    return text;
}

bool same_outputs(const std::string& a, const std::string& b) { return hash_of_folder(a) == hash_of_folder(b); }

}  // namespace headway
