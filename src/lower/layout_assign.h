// Chooses one form for every site so that kernels and reorders together are cheapest by the cost model.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lower/candidates.h"
#include "lower/site.h"

namespace headway {

struct Chosen {
    LowerSite site;
    std::vector<Form> forms;  // legal ones, cheapest first; empty only for sites that are always views
    int pick = -1;            // index into forms, or -1: a view
    Layout view_src = Layout::plain, view_dst = Layout::plain;  // of a view
    bool nests = false;  // the picked form moves no bytes: its tensors lie inside each other
    std::vector<Decision> refusals;
};

// Fills in pick (or the view layouts) for each entry; entries are in execution order.
void assign_layouts(const Graph& graph, std::vector<Chosen>& sites, const Route& route, const Target& target);

}  // namespace headway
