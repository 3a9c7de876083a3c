#include "lower/candidates.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lower/algorithm_knobs.h"
#include "lower/cost.h"

namespace headway {
namespace {

const Knob<std::string_view> layout_mixed{{
    .name = "layout.mixed",
    .help =
        "Whether a kernel may read one layout and write another where it can, which saves a reorder at the ends of a "
        "network. Without, reorders are steps of their own: better where the writes of such a kernel are scattered "
        "over a large image.",
    .family = "layout",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "stem",
    .witness_route = "conv.algorithm=direct",
}};

constexpr Layout all_layouts[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

// Tensors that follow the site's layout: f32 or quantised ones with spatial axes, of the rank of the dst.
bool follows_layout(const TensorDesc& desc, size_t rank) {
    const bool has_form = desc.type == ElementType::f32 || desc.type == ElementType::u8 || desc.type == ElementType::i8;
    return has_form && desc.shape.rank() >= 3 && desc.shape.rank() == rank;
}

// The site's problem with its data in `in` and its results in `out`. Operands follow the dst when they have its shape;
// smaller ones keep plain bytes, which broadcast rules are about.
Problem with_layouts(const LowerSite& site, Layout in, Layout out) {
    Problem problem = site.problem;
    const size_t rank = problem.dst.front().shape.rank();
    for (size_t k = 0; k < problem.src.size(); ++k) {
        auto& desc = problem.src[k];
        if (desc && !problem.constant[k] && follows_layout(*desc, rank)) desc->layout = in;
    }
    for (TensorDesc& desc : problem.operands)
        if (follows_layout(desc, rank) && desc.shape == problem.dst.front().shape) desc.layout = out;
    for (TensorDesc& desc : problem.dst)
        if (follows_layout(desc, rank)) desc.layout = out;
    return problem;
}

struct LayoutPair {
    Layout in, out;
};

std::vector<LayoutPair> layout_pairs(const LowerSite& site, bool mixed) {
    const TensorDesc& dst = site.problem.dst.front();
    if (!follows_layout(dst, dst.shape.rank()) && std::ranges::none_of(site.problem.src, [](const auto& src) {
            return src && follows_layout(*src, src->shape.rank());
        }))
        return {{Layout::plain, Layout::plain}};
    std::vector<LayoutPair> pairs;
    for (Layout layout : all_layouts) pairs.push_back({layout, layout});
    if (mixed && site.problem.op != "Pointwise")
        for (Layout in : all_layouts)
            for (Layout out : all_layouts)
                if (in != out) pairs.push_back({in, out});
    return pairs;
}

Choices choices_for(const Kernel& kernel, const Route& route, const std::vector<std::string>& origins) {
    Choices choices;
    for (const KnobBase* knob : kernel.fields().knobs) {
        const int index = knob->scope() == Scope::site ? route.index(*knob, origins) : route.index(*knob);
        choices.set(*knob, knob->values()[static_cast<size_t>(index)]);
    }
    return choices;
}

// What the route asks for at a site: an algorithm ("" = any), and a format of the products (nullopt = any).
struct Wish {
    std::string algorithm;
    std::optional<ComputeFormat> format;
};

Verdict fulfils(const Kernel& kernel, const Wish& wish) {
    if (wish.format && kernel.fields().compute != *wish.format)
        return Verdict::no(Reason::knob, "format.compute=" + std::string(to_string(*wish.format)));
    if (!wish.algorithm.empty() && kernel.fields().algorithm != wish.algorithm)
        return Verdict::no(Reason::knob, "the route asks for " + wish.algorithm);
    return Verdict::yes();
}

// What the route says besides, before the kernel's own code is asked. Thresholds bind only where nothing is forced.
Verdict allowed(const Kernel& kernel, const LowerSite& site, const Route& route, const std::string& forced) {
    if (Verdict isa = allowed_isa(kernel.fields().isa, route, site.origins); !isa) return isa;
    return forced.empty() ? above_thresholds(kernel, site.problem, route, site.origins) : Verdict::yes();
}

double form_us(const Kernel& kernel, const Problem& problem, const Choices& choices, const Route& route,
               const Target& target) {
    if (kernel.fields().work)
        return predicted_us(kernel.fields().work(problem, target, choices), kernel.fields().isa, target, route);
    // Plain operator code: about 10 ns an element touched.
    double elements = 100;
    for (const auto& src : problem.src)
        if (src) elements += static_cast<double>(src->shape.elements());
    for (const TensorDesc& dst : problem.dst) elements += static_cast<double>(dst.shape.elements());
    return elements * 0.01;
}

bool serves(const Kernel& kernel, const std::string& op) {
    return std::ranges::find(kernel.fields().ops, op) != kernel.fields().ops.end();
}

std::vector<Form> forms_of(const Kernel& kernel, const LowerSite& site, const Route& route, const Target& target,
                           Verdict& why_not) {
    std::vector<Form> forms;
    const Choices choices = choices_for(kernel, route, site.origins);
    for (const auto [in, out] : layout_pairs(site, route.get(layout_mixed, site.origins) == "on")) {
        Problem problem = with_layouts(site, in, out);
        const Verdict verdict = kernel.supports(problem, target, choices);
        if (verdict) {
            const double us = form_us(kernel, problem, choices, route, target);
            forms.push_back({&kernel, std::move(problem), choices, us});
        } else if (why_not || why_not.reason == Reason::layout) {
            // The most telling refusal is the first that is not about the layout that was offered.
            why_not = verdict;
        }
    }
    return forms;
}

// Plain operator code is the last resort: it is dropped where a kernel made for speed stands.
void keep_real_kernels(const LowerSite& site, std::vector<Form>& forms, std::vector<Decision>& refusals) {
    const auto is_real = [](const Form& form) { return static_cast<bool>(form.kernel->fields().work); };
    if (std::ranges::none_of(forms, is_real)) return;
    std::erase_if(forms, [&](const Form& form) {
        if (is_real(form)) return false;
        refusals.push_back({"lower", site.origins.front(), std::string(form.kernel->name()), false,
                            Verdict::no(Reason::cost, "plain operator code, the last resort"), 0});
        return true;
    });
}

// The kernels that serve a site's operator, asked under one wish after another.
class Candidates {
public:
    Candidates(const LowerSite& site, const Route& route, const Target& target, const Registry<Kernel>& kernels)
        : site_(site), route_(route), target_(target) {
        for (const Kernel* kernel : kernels)
            if (serves(*kernel, site.problem.op)) kernels_.push_back({kernel, Verdict::yes()});
    }

    bool has(ComputeFormat format) const {
        return std::ranges::any_of(kernels_,
                                   [&](const Asked& asked) { return asked.kernel->fields().compute == format; });
    }

    std::vector<Form> collect(const Wish& wish) {
        std::vector<Form> forms;
        for (Asked& asked : kernels_) {
            Verdict why_not = fulfils(*asked.kernel, wish);
            if (!why_not) {
                if (!asked.answered) asked.why_not = std::move(why_not);  // else its own answer tells more
                continue;
            }
            asked.answered = true;
            why_not = allowed(*asked.kernel, site_, route_, wish.algorithm);
            std::vector<Form> legal;
            if (why_not) legal = forms_of(*asked.kernel, site_, route_, target_, why_not);
            asked.why_not = legal.empty() ? std::move(why_not) : Verdict::yes();
            std::ranges::move(legal, std::back_inserter(forms));
        }
        return forms;
    }

    // Those without a form, with the reason.
    std::vector<std::pair<const Kernel*, Verdict>> refused() const {
        std::vector<std::pair<const Kernel*, Verdict>> list;
        for (const Asked& asked : kernels_)
            if (!asked.why_not) list.emplace_back(asked.kernel, asked.why_not);
        return list;
    }

private:
    struct Asked {
        const Kernel* kernel;
        Verdict why_not;
        bool answered = false;
    };
    const LowerSite& site_;
    const Route& route_;
    const Target& target_;
    std::vector<Asked> kernels_;
};

}  // namespace

std::vector<Form> find_forms(const LowerSite& site, const Route& route, const Target& target,
                             const Registry<Kernel>& kernels, std::vector<Decision>& refusals) {
    Candidates candidates(site, route, target, kernels);
    const auto refuse = [&](std::string candidate, Verdict why) {
        refusals.push_back({"lower", site.origins.front(), std::move(candidate), false, std::move(why), 0});
    };
    // Wishes reach only sites where a legal kernel fulfils them: the format goes before the algorithm, and what nothing
    // fulfils is told and dropped.
    const std::string algorithm = forced_algorithm(site.problem.op, route, site.origins);
    std::optional<ComputeFormat> format = wanted_format(route, site.origins);
    if (format == ComputeFormat::bf16 && !candidates.has(*format)) format = ComputeFormat::fp32;
    std::vector<Form> forms = candidates.collect({algorithm, format});
    if (forms.empty() && format == ComputeFormat::bf16) {
        if (!algorithm.empty()) forms = candidates.collect({"", format});
        if (!forms.empty()) {
            refuse("algorithm " + algorithm,
                   Verdict::no(Reason::conflict,
                               "no kernel of this algorithm computes in bf16 here, and format.compute goes first"));
        } else {
            refuse("format.compute=bf16", Verdict::no(Reason::knob, "no kernel computes in bf16 here: fp32 stands"));
            format = ComputeFormat::fp32;
            forms = candidates.collect({algorithm, format});
        }
    }
    if (forms.empty() && !algorithm.empty()) {
        refuse("algorithm " + algorithm, Verdict::no(Reason::knob, "no kernel of this algorithm is legal here"));
        forms = candidates.collect({"", format});
    }
    for (const auto& [kernel, why] : candidates.refused()) refuse(std::string(kernel->name()), why);
    keep_real_kernels(site, forms, refusals);
    std::ranges::stable_sort(forms, {}, &Form::us);
    return forms;
}

Form cheapest_form(const Problem& problem, const std::vector<std::string>& origins, const Route& route,
                   const Target& target, const Registry<Kernel>& kernels) {
    Form best;
    for (const Kernel* kernel : kernels) {
        if (!serves(*kernel, problem.op) || !allowed_isa(kernel->fields().isa, route, origins)) continue;
        const Choices choices = choices_for(*kernel, route, origins);
        if (!kernel->supports(problem, target, choices)) continue;
        const double us = form_us(*kernel, problem, choices, route, target);
        if (best.kernel == nullptr || us < best.us) best = {kernel, problem, choices, us};
    }
    if (best.kernel == nullptr) throw InternalError("no kernel for " + problem.text());
    return best;
}

}  // namespace headway
