#include "cli/native_session.h"

#include "base/error.h"
#include "base/file.h"

namespace headway {

std::unique_ptr<Builder> open_native(const std::string& model, const BuildOptions& options, const std::string& sample) {
    const BuilderKind* kind = declared<BuilderKind>().find("native");
    HEADWAY_CHECK(kind != nullptr);
    std::unique_ptr<Builder> builder = kind->make();
    builder->open(open_request(model, options, sample));
    return builder;
}

std::string route_text(const std::string& argument) {
    return argument.starts_with('@') ? read_file(argument.substr(1)) : argument;
}

}  // namespace headway
