#include "base/verdict.h"

#include <array>
#include <utility>

namespace headway {
namespace {

constexpr std::array<std::pair<Reason, std::string_view>, 18> names{{
    {Reason::none, "none"},
    {Reason::operator_not_handled, "operator"},
    {Reason::attribute, "attribute"},
    {Reason::element_type, "element type"},
    {Reason::shape, "shape"},
    {Reason::layout, "layout"},
    {Reason::needs_constant, "needs constant"},
    {Reason::epilogue, "epilogue"},
    {Reason::isa, "isa"},
    {Reason::provider, "provider"},
    {Reason::knob, "knob"},
    {Reason::threshold, "threshold"},
    {Reason::consumers, "consumers"},
    {Reason::cost, "cost"},
    {Reason::pattern, "pattern"},
    {Reason::conflict, "conflict"},
    {Reason::limit, "limit"},
    {Reason::accuracy, "accuracy"},
}};

}  // namespace

std::string_view to_string(Reason reason) {
    for (const auto& [value, name] : names)
        if (value == reason) return name;
    return "none";
}

Reason reason_from_string(std::string_view word) {
    for (const auto& [value, name] : names)
        if (name == word) return value;
    return Reason::none;
}

std::string Verdict::text() const {
    if (*this) return "yes";
    std::string text(to_string(reason));
    if (!detail.empty()) text += ": " + detail;
    return text;
}

}  // namespace headway
