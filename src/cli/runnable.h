// An operand that can run: an engine file as it is, or a model built on the spot.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "data/samples.h"

namespace headway {

class Runnable {
public:
    virtual ~Runnable() = default;
    std::vector<PortSpec> inputs, outputs;
    virtual std::vector<Tensor> run(const std::vector<Tensor>& inputs) = 0;
};

// `data` ("" = none) binds dimensions that neither the model nor the options fix. A model is built along `route` into a
// temporary engine file, so that what runs is what a file would run.
std::unique_ptr<Runnable> open_runnable(const std::string& operand, const BuildOptions& options,
                                        const std::string& route, const std::string& data);

bool is_engine_file(const std::string& path);

// The first sample of a data set as a folder of input_i.pb, which is what builders bind dimensions from and time on.
// `batch`: samples joined into it, 0 = the first alone. Returns `folder`, or "" when there is no data.
std::string write_first_sample(const std::string& data, const std::string& folder, int64_t batch = 0);

}  // namespace headway
