// Metamorphic variants of a case: other ways to compute the same values. Each is compared with the engine of the
// default route, so no expected outputs are needed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "case.h"
#include "native_case.h"

namespace headway::conformance {

enum class Relation {
    same,       // the values agree
    unchanged,  // this way gives the very engine that was compared already
    refused,    // it cannot run the case
    differs,
    crash,
    timeout,
};
inline constexpr Relation all_relations[] = {Relation::same,    Relation::unchanged, Relation::refused,
                                             Relation::differs, Relation::crash,     Relation::timeout};
std::string_view to_string(Relation relation);
Relation relation_from_string(std::string_view word);
constexpr bool is_failure(Relation relation) { return relation > Relation::refused; }

struct Finding {
    Relation relation = Relation::same;
    std::string detail;
};
// `same`, or `differs` with what was found.
Finding found_as(const std::optional<std::string>& difference);

struct Variant {
    // "passes off", "knob conv.algorithm=winograd4", "route", "isa avx2", "reload", "interpreter", "symbols", "staged",
    // "fed", "taps", "twin"
    std::string name;
    // Unsupported when this way cannot run the case.
    std::function<Finding()> run;
};

struct VariantInput {
    const NativeCase& native;
    const std::vector<Tensor>& outputs;  // of the default engine
    CaseTolerance tolerance;
    std::string name;               // of the case
    std::optional<CaseFiles> twin;  // of an expanded case the one with the operator itself
    uint64_t seed = 0;
    const Catalogue& catalogue;
};

// All variants that apply to the case. They hold references to what `input` refers to.
std::vector<Variant> variants_of(const VariantInput& input);

// The parts of that list.
// Other routes and targets: every pass off; each value of each knob that changes the engine, alone; a random route;
// lesser instruction sets. Bit-equal where the knob is exact.
std::vector<Variant> route_variants(const VariantInput& input);
// The same model run by the interpreter or written otherwise: symbols for extents, bound again by the data or left to
// a staged engine; constants as inputs; every inner value as an output; the expanded form against the operator.
std::vector<Variant> model_variants(const VariantInput& input);
// The engine written to a file and run by a fresh process.
std::vector<Variant> file_variants(const VariantInput& input);

// The fresh process's side of file_variants: `inputs` and `outputs` are folders of input_i.pb and output_i.pb.
void run_engine_file(const std::string& engine, const std::string& inputs, const std::string& outputs,
                     const Registry<Kernel>& kernels);

}  // namespace headway::conformance
