#include "workers/builder.h"

namespace headway {

void Builder::reference(const std::string&, const std::string&) {
    throw Unsupported("this builder computes no references: give data with outputs (output_i.pb)");
}

std::vector<Snippet> Builder::snippets(const std::string&) { return {}; }

void Builder::certify(const std::string& engine, const std::string&) {
    throw Unsupported("this builder stores no certificates: " + engine);
}

}  // namespace headway
