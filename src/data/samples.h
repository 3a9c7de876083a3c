// Data sets: inputs, and reference outputs where there are some, for the ports of one model. From a folder of ONNX test
// data (test_data_set_k/input_i.pb, output_i.pb), one such sample folder, a folder of .npz files, one .npz file, or
// generated from the declared shapes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "tensor/tensor.h"
#include "tensor/tensor_proto.h"

namespace headway {

// What a model says about an input or output.
struct PortSpec {
    std::string name;
    ElementType type = ElementType::f32;
    std::optional<std::vector<int64_t>> dims;  // -1 = any extent; nothing = any rank
    std::optional<Tensor> value;               // an input fixed to one value
};

// Tensors as they are on disk, not yet matched with ports.
struct RawSample {
    std::string origin;  // its path, for messages
    std::vector<NamedTensor> inputs, outputs;
    bool by_name = false;  // .npz: `inputs` holds all arrays, the names tell which are outputs
};

struct Sample {
    std::string origin;
    std::vector<Tensor> inputs;   // in the order of the ports
    std::vector<Tensor> outputs;  // references in the order of the ports; empty when the data have none
    Hash hash() const;            // of the inputs
};

// UserError naming the path when there is nothing that can be read. Samples in natural order of their names.
std::vector<RawSample> read_samples(const std::string& path);

// Tensors go to the port of their name when all have such names (or come from an .npz), else by position. UserError
// naming the sample and the port for a missing or surplus tensor, another type or shape, or NaN in an input. Either all
// outputs have references or none.
Sample match_sample(const RawSample& raw, std::span<const PortSpec> inputs, std::span<const PortSpec> outputs);

// read_samples and match_sample for all.
std::vector<Sample> load_samples(const std::string& path, std::span<const PortSpec> inputs,
                                 std::span<const PortSpec> outputs);

// Seeded inputs: floats normal, integers 0 and 1 (legal as token ids, segment ids and
// masks), fixed values as they are.
// UserError naming the inputs whose shape is not fully known.
std::vector<Sample> generate_samples(std::span<const PortSpec> inputs, int count, uint64_t seed);

// input_i.pb (and output_i.pb) in `folder`, which is made when absent. Names beside the tensors.
void write_sample(const std::string& folder, std::span<const NamedTensor> inputs, std::span<const NamedTensor> outputs);

// Indices of samples: every third by content hash is held out; equal inputs fall on the same side. With fewer than
// three different samples nothing is held out.
struct Split {
    std::vector<size_t> tuning, heldout;
};
Split split_samples(std::span<const Sample> samples);

}  // namespace headway
