// Layouts of a chain whose sites have made-up prices.
#include "lower/layout_assign.h"

#include <gtest/gtest.h>

#include "lower/cost.h"
#include "support/graph_engine.h"

namespace headway {
namespace {

Form form_of(const LowerSite& site, Layout layout, double us) {
    Form form{.problem = site.problem, .us = us};
    form.problem.operands[0].layout = form.problem.dst[0].layout = layout;
    return form;
}

// Six sites between two that know plain images only: nhwc is cheaper for each by half of a reorder, so that changing a
// lone one never pays and changing all saves a reorder.
std::vector<Layout> layouts_of_chain(const Route& route) {
    Graph graph = parse_graph(R"(graph {
  input %x: f32[1,8,20,20]
  %a = Sin(%x)
  %b = Sin(%a)
  %c = Sin(%b)
  %d = Sin(%c)
  %e = Sin(%d)
  %f = Sin(%e)
  %g = Sin(%f)
  %y = Sin(%g)
  output %y
})");
    const Target target = Target::parse("avx2");
    const std::vector<NodeId> nodes = graph.topological_order();
    const double reorder_us = copy_us(4 * 8 * 20 * 20, target, route);
    std::vector<Chosen> sites;
    for (NodeId node : nodes) {
        infer_node(graph, node, testing::catalogue().ops);
        Chosen chosen{.site = make_site(graph, node)};
        const bool end = node == nodes.front() || node == nodes.back();
        chosen.forms.push_back(form_of(chosen.site, Layout::plain, 10 * reorder_us));
        if (!end) chosen.forms.push_back(form_of(chosen.site, Layout::nhwc, 9.5 * reorder_us));
        sites.push_back(std::move(chosen));
    }
    assign_layouts(graph, sites, route, target);
    std::vector<Layout> layouts;
    for (const Chosen& chosen : sites)
        layouts.push_back(chosen.forms[static_cast<size_t>(chosen.pick)].problem.dst[0].layout);
    return layouts;
}

TEST(LayoutAssign, LeavesALayoutForARunOfSites) {
    std::vector<Layout> want(8, Layout::nhwc);
    want.front() = want.back() = Layout::plain;
    EXPECT_EQ(layouts_of_chain(Route()), want);
}

TEST(LayoutAssign, OneSweepIsGreedy) {
    EXPECT_EQ(layouts_of_chain(Route::parse("layout.sweeps=1", testing::catalogue().knobs)),
              std::vector<Layout>(8, Layout::plain));
}

}  // namespace
}  // namespace headway
