#include "base/error.h"

namespace headway {

void fail_internal(const char* file, int line, const char* condition) {
    throw InternalError(std::string(file) + ":" + std::to_string(line) + ": broken invariant: " + condition);
}

}  // namespace headway
