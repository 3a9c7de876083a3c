#include "target.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"

namespace headway::fuzz {
namespace {

// Small, so that what passes them is still quick with sanitizers.
constexpr Limits fuzz_limits{.memory = int64_t{4} << 20, .work = int64_t{1} << 27};

}  // namespace

void Target::run(std::string_view bytes) const {
    const Limits before = limits();
    set_limits(fuzz_limits);
    try {
        fields_.run(bytes);
    } catch (const UserError&) {
    }
    set_limits(before);
}

std::string as_file(std::string_view bytes) {
    static const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
    const bool filled = ::ftruncate(file, 0) == 0 &&
                        ::pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    HEADWAY_CHECK(filled);
    return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace headway::fuzz
