// An engine as code for programs that use ONNX Runtime without Headway.
#pragma once

#include <string>
#include <vector>

#include "workers/builder.h"
#include "workers/onnxruntime/options.h"

namespace headway::ort {

// Python and C++ that make the session: the threads, and every option that is not ONNX Runtime's own default.
std::vector<Snippet> write_snippets(const std::string& model, const Options& options);

}  // namespace headway::ort
