// The target: all that a build may know of the machine. Same model, route and target give the same engine bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway {

enum class Isa : uint8_t { baseline, avx2, avx512 };  // avx2 = AVX2+FMA+F16C; avx512 = F+BW+VL+DQ

std::string_view to_string(Isa isa);

struct Target {
    Isa isa = Isa::baseline;
    bool avx512_vnni = false;
    bool avx512_bf16 = false;
    bool avx512_fp16 = false;
    int fma512 = 2;  // 512-bit f32 multiply-adds that a core starts each cycle: 1 where the units are 256 bits wide
    int64_t l1_bytes = 32 << 10;
    int64_t l2_bytes = 512 << 10;
    int64_t l3_bytes = 8 << 20;
    int threads = 1;                // ceiling; thread knobs choose within it
    std::string onednn = "absent";  // provider version, e.g. "2.6.3"

    static Target native();  // what this machine is, threads = affinity and cgroup quota
    // "native", "baseline", "avx2", "avx512", or the text of text(). UserError otherwise.
    static Target parse(std::string_view text);
    std::string text() const;  // "isa=avx2 l1=32768 ... threads=2", one line; parse(text()) is equal
    bool operator==(const Target&) const = default;

    // Widest f32 vector, in lanes: 4, 8 or 16.
    int lanes() const { return isa == Isa::avx512 ? 16 : isa == Isa::avx2 ? 8 : 4; }
};

// The first field of `built` that `here` lacks for running its code, as "bf16=1", or "".
std::string missing_field(const Target& built, const Target& here);

// Whether code for `isa` can run here.
bool runs_here(Isa isa);

}  // namespace headway
