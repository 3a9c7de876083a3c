// Anonymous memory in whole pages, with the page size that a setting asks for. Zeroed, and not touched until used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/limits.h"

namespace headway {

class Pages {
public:
    Pages() = default;
    // `kind`: "thp" asks the kernel for huge pages, anything else for small ones. UserError when memory is short.
    Pages(int64_t bytes, std::string_view kind);
    ~Pages();
    Pages(Pages&& other) noexcept
        : claim_(std::move(other.claim_)),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    Pages& operator=(Pages&& other) noexcept {
        std::swap(claim_, other.claim_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    std::byte* data() const { return data_; }

private:
    MemoryClaim claim_;
    std::byte* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace headway
