// The hash that names a model: of its file and of the external data that it refers to. Needs no understanding of the
// model, so builders that read ONNX by themselves name it as ours does.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"

namespace headway {

// `folder` holds the external data. UserError when the file is damaged or external data cannot be read.
Hash model_hash(std::string_view bytes, const std::string& folder);

// The same for a file. UserError naming the path.
Hash model_hash(const std::string& path);

}  // namespace headway
