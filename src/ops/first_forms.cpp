#include "ops/first_forms.h"

#include <array>
#include <cmath>
#include <utility>

namespace headway {
namespace {

// In the order of their numbers, from 1 on; what stands between them has no Headway type.
constexpr std::array<std::string_view, 13> cast_type_names{"FLOAT",  "UINT8",  "INT8",   "UINT16", "INT16",
                                                           "INT32",  "INT64",  "STRING", "BOOL",   "FLOAT16",
                                                           "DOUBLE", "UINT32", "UINT64"};

int64_t whole_scalar(const Tensor& tensor, const char* name) {
    const std::vector<int64_t> values = whole_numbers(tensor, name);
    if (values.size() != 1)
        throw UserError(std::string(name) + " must hold one element, not " + std::to_string(values.size()));
    return values[0];
}

}  // namespace

std::vector<int64_t> whole_numbers(const Tensor& tensor, const char* name) {
    if (!is_float(tensor.type())) return tensor.to_int64();
    constexpr double limit = 1e15;  // whole numbers below it are exact
    std::vector<int64_t> values;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
        const double value = tensor.at(i);
        if (!(std::fabs(value) < limit) || value != std::floor(value))
            throw UserError(std::string(name) + " holds no integers");
        values.push_back(static_cast<int64_t>(value));
    }
    return values;
}

std::vector<int64_t> first_tile_repeats(const Tensor& tiles, const Tensor& axis, size_t rank) {
    std::vector<int64_t> repeats(rank, 1);
    const int64_t at = normalized_axis(whole_scalar(axis, "axis"), rank);
    repeats[static_cast<size_t>(at)] = whole_scalar(tiles, "tiles");
    return repeats;
}

std::vector<float> first_upsample_scales(const Attributes& attributes, size_t rank) {
    if (rank != 4) throw UserError("its input has rank " + std::to_string(rank) + ", not 4");
    if (!attributes.has("height_scale") || !attributes.has("width_scale"))
        throw UserError("has no height_scale or no width_scale");
    return {1, 1, attributes.real("height_scale", 1), attributes.real("width_scale", 1)};
}

bool is_bilinear(const Attributes& attributes) { return attributes.text("mode", "nearest") == "bilinear"; }

int64_t first_cast_target(const Attributes& attributes) {
    const std::string name = attributes.text("to", "");
    for (size_t i = 0; i < cast_type_names.size(); ++i)
        if (cast_type_names[i] == name) return static_cast<int64_t>(i) + 1;
    throw Unsupported("attribute to names no element type that is handled");
}

double norm_exponent(const Attributes& attributes, int version) {
    return version < 2 ? attributes.real("p", 2) : static_cast<double>(attributes.integer("p", 2));
}

bool has_statistics_per_element(const Attributes& attributes, int version) {
    return version < 9 && attributes.integer("spatial", 1) == 0;
}

}  // namespace headway
