#include "lower/lower.h"

#include <fmt/format.h>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "lower/candidates.h"
#include "lower/emit.h"
#include "lower/layout_assign.h"
#include "lower/memory_plan.h"
#include "lower/schedule.h"
#include "lower/settings.h"

namespace headway {
namespace {

[[noreturn]] void fail_no_kernel(const LowerSite& site, const std::vector<Decision>& refusals) {
    std::string reasons;
    for (const Decision& refusal : refusals) reasons += "; " + refusal.candidate + ": " + refusal.verdict.text();
    throw Unsupported("nothing can run " + escaped(site.origins.front()) + " (" + site.problem.text() + ")" + reasons);
}

// The entries of one node: itself, or the halves of a Group that no kernel takes whole.
void add_entries(Graph& graph, const LowerSite& site, const Route& route, const Target& target,
                 const Registry<Kernel>& kernels, std::vector<Chosen>& entries) {
    Chosen chosen;
    chosen.site = site;
    chosen.forms = find_forms(site, route, target, kernels, chosen.refusals);
    if (!chosen.forms.empty()) {
        entries.push_back(std::move(chosen));
        return;
    }
    if (site.problem.epilogue.empty() || site.problem.op == "Pointwise") fail_no_kernel(site, chosen.refusals);
    chosen.refusals.push_back({"lower", site.origins.front(), "one step for the whole group", false,
                               Verdict::no(Reason::epilogue, "no kernel takes the anchor with its epilogue: split"),
                               0});
    std::vector<Decision> refusals = std::move(chosen.refusals);
    for (const LowerSite& half : split_site(graph, site)) add_entries(graph, half, route, target, kernels, entries);
    entries.back().refusals.insert(entries.back().refusals.begin(), refusals.begin(), refusals.end());
}

void write_ledger(const std::vector<Chosen>& entries, std::vector<Decision>& ledger) {
    for (const Chosen& entry : entries) {
        const std::string& site = entry.site.origins.front();
        if (entry.pick < 0 || entry.nests) {
            ledger.push_back({"lower", site, "view", true, Verdict::yes(), 0});
            continue;
        }
        const Form& won = entry.forms[static_cast<size_t>(entry.pick)];
        const auto name = [](const Form& form) {
            return fmt::format("{} {}", form.kernel->name(), to_string(form.problem.dst.front().layout));
        };
        ledger.push_back({"lower", site, name(won), true, Verdict::yes(), won.us});
        std::set<std::string> told{name(won)};
        for (const Form& form : entry.forms) {
            // The cheapest form of a kernel in a layout speaks for it.
            if (!told.insert(name(form)).second) continue;
            ledger.push_back(
                {"lower", site, name(form), false,
                 Verdict::no(Reason::cost,
                             fmt::format("predicted {:.1f} us against {:.1f} us, reorders apart", form.us, won.us)),
                 form.us});
        }
        ledger.insert(ledger.end(), entry.refusals.begin(), entry.refusals.end());
    }
}

}  // namespace

Plan lower(const Graph& graph, const Route& route, const Target& target, const Registry<Kernel>& kernels,
           std::vector<Decision>& ledger) {
    Graph working = graph;
    std::vector<Chosen> entries;
    for (NodeId id : scheduled_order(graph, route)) {
        add_entries(working, make_site(working, id), route, target, kernels, entries);
    }
    assign_layouts(working, entries, route, target);
    Emitted emitted = emit_plan(working, entries, route, target, kernels);
    emitted.plan.settings = settings_of(route, target);
    place_memory(emitted.plan, emitted.nesting, route, kernels);
    write_ledger(entries, ledger);
    return std::move(emitted.plan);
}

}  // namespace headway
