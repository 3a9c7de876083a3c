// A sample as workers exchange it with their clients: a folder of input_i.pb and, for answers, of output_i.pb, in the
// order of the model's inputs and outputs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/samples.h"
#include "tensor/tensor.h"
#include "workers/builder.h"

namespace headway {

// What a builder says about ports, as data sets see them.
std::vector<PortSpec> port_specs(std::span<const PortDescription> ports);

// `count` inputs by position. UserError naming the file.
std::vector<Tensor> read_sample(const std::string& folder, size_t count);

// The inputs of ports whose types and shapes are known: by the names in the files when all are names of ports, else by
// position. UserError naming the port that is missing or of another type or shape.
std::vector<Tensor> read_sample(const std::string& folder, std::span<const PortSpec> ports);

// Makes the folder when absent.
void write_outputs(const std::string& folder, std::span<const std::string> names, std::span<const Tensor> outputs);

}  // namespace headway
