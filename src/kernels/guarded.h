// For the tests of kernels: memory that ends, or begins, at a page that no access survives, so that reading past a
// buffer is noticed as surely as writing past it. Included by tests only.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "base/checked.h"

namespace headway::testing {

// Which end of the memory lies at the page. Both ends of a buffer cannot: tests run once with each.
enum class Guard { behind, before };

struct Unmap {
    size_t bytes = 0;
    void operator()(std::byte* base) const { ::munmap(base, bytes); }
};

// `bytes` bytes filled with `fill`. What is left of their pages is filled with a value that intact() looks for.
// `alignment`: of the first byte, where the kernel is promised one; without it the last byte is the page's.
class Guarded {
public:
    explicit Guarded(int64_t bytes, Guard guard = Guard::behind, unsigned char fill = 0xCD, int64_t alignment = 1)
        : bytes_(static_cast<size_t>(bytes)) {
        const auto page = static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
        const int64_t room = round_up(bytes, page);
        void* base = ::mmap(nullptr, static_cast<size_t>(room + 2 * page), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        HEADWAY_CHECK(base != MAP_FAILED);
        pages_ = {static_cast<std::byte*>(base), Unmap{static_cast<size_t>(room + 2 * page)}};
        open_ = {pages_.get() + page, static_cast<size_t>(room)};
        if (room > 0) HEADWAY_CHECK(::mprotect(open_.data(), open_.size(), PROT_READ | PROT_WRITE) == 0);
        first_ = open_.data() + (guard == Guard::behind ? room - round_up(bytes, alignment) : 0);
        std::ranges::fill(open_, guard_value);
        refill(fill);
    }
    void refill(unsigned char fill) const { std::fill_n(first_, bytes_, std::byte{fill}); }

    std::byte* data() const { return first_; }
    size_t size() const { return bytes_; }
    template <class T>
    std::span<T> as() const {
        return {reinterpret_cast<T*>(first_), bytes_ / sizeof(T)};
    }
    // Whether nothing was written on the pages outside the bytes.
    bool intact() const {
        const auto is_guard = [](std::byte b) { return b == guard_value; };
        return std::all_of(open_.data(), first_, is_guard) &&
               std::all_of(first_ + bytes_, open_.data() + open_.size(), is_guard);
    }

private:
    static constexpr std::byte guard_value{0xA5};
    size_t bytes_;
    std::unique_ptr<std::byte, Unmap> pages_;
    std::span<std::byte> open_;
    std::byte* first_;
};

// A copy of bytes that a kernel may read.
inline Guarded guarded_copy(std::span<const std::byte> bytes, Guard guard) {
    Guarded memory(static_cast<int64_t>(bytes.size()), guard);
    std::ranges::copy(bytes, memory.data());
    return memory;
}

}  // namespace headway::testing
