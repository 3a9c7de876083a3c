// ONNX Runtime's own profile of a session, as times per node.
#pragma once

#include <string>
#include <vector>

#include "data/samples.h"
#include "workers/builder.h"
#include "workers/onnxruntime/options.h"

namespace headway::ort {

// Runs a session of its own, with the same options and profiling on, so that the engine that is timed stays as it is.
std::vector<StepTime> profile_model(const std::string& model, const Options& options, const std::vector<Tensor>& inputs,
                                    int64_t iterations);

// The profile's JSON text, over so many calls: time per node in order of their first appearance, the kernel being the
// operator and the origin the node's name. UserError when it is no such profile.
std::vector<StepTime> read_profile(const std::string& text, int64_t iterations);

}  // namespace headway::ort
