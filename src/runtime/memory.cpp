#include "runtime/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/checked.h"

namespace headway {
namespace {

constexpr int64_t huge_page = int64_t{2} << 20;

}  // namespace

Pages::Pages(int64_t bytes, std::string_view kind) : claim_(bytes) {
    const bool huge = kind == "thp";
    const int64_t unit = huge ? huge_page : 4096;
    const int64_t size = round_up(std::max<int64_t>(bytes, 1), unit);
    // One huge page more, so that the part kept can start on a boundary.
    const int64_t mapped = huge ? checked_add(size, huge_page, "memory size") : size;
    void* memory =
        ::mmap(nullptr, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw UserError("out of memory for " + std::to_string(bytes) + " bytes");
    auto* begin = static_cast<std::byte*>(memory);
    if (huge) {
        const auto address = reinterpret_cast<uintptr_t>(begin);
        const auto skipped = (huge_page - static_cast<int64_t>(address % huge_page)) % huge_page;
        if (skipped > 0) ::munmap(begin, static_cast<size_t>(skipped));
        if (skipped < huge_page) ::munmap(begin + skipped + size, static_cast<size_t>(huge_page - skipped));
        begin += skipped;
    }
    data_ = begin;
    size_ = static_cast<size_t>(size);
    // Advice only: where the system forbids it, pages stay as they are.
    ::madvise(data_, size_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Pages::~Pages() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace headway
