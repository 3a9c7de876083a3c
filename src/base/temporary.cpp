#include "base/temporary.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace headway {

TemporaryFolder::TemporaryFolder() {
    const char* root = std::getenv("TMPDIR");
    path_ = std::string(root != nullptr && *root != '\0' ? root : "/tmp") + "/headway-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr)
        throw UserError("cannot make the temporary folder " + path_ + ": " + std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace headway
