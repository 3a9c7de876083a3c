#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ops/arguments.h"
#include "ops/doubles.h"

namespace headway {
namespace {

enum class BranchMode { at_most, below, at_least, above, equal, unequal, member };
enum class TreeAggregate { average, sum, least, largest };

struct TreeBranch {
    int64_t target = 0;  // a node, or a leaf
    bool leaf = false;
};

struct TreeNode {
    BranchMode mode = BranchMode::at_most;
    double split = 0;
    size_t feature = 0;
    std::unordered_set<double> members;
    bool missing_tracks_true = false;
    TreeBranch yes, no;

    const TreeBranch& follow(double x) const {
        if (std::isnan(x) && missing_tracks_true) return yes;
        switch (mode) {
            case BranchMode::at_most:
                return x <= split ? yes : no;
            case BranchMode::below:
                return x < split ? yes : no;
            case BranchMode::at_least:
                return x >= split ? yes : no;
            case BranchMode::above:
                return x > split ? yes : no;
            case BranchMode::equal:
                return x == split ? yes : no;
            case BranchMode::unequal:
                return x != split ? yes : no;
            case BranchMode::member:
                break;
        }
        return members.contains(x) ? yes : no;
    }
};

struct TreeLeaf {
    size_t target = 0;
    double weight = 0;
};

// The attributes, checked: every index lies inside what it counts in.
struct Trees {
    std::vector<TreeNode> nodes;
    std::vector<TreeLeaf> leaves;
    std::vector<size_t> roots;
    size_t targets = 0, features = 0;
    TreeAggregate aggregate = TreeAggregate::sum;

    static Trees of(const Attributes& attributes, ElementType type, int64_t features);
    const TreeLeaf& reach(size_t root, const double* row) const;

private:
    void read_nodes(const Attributes& attributes, ElementType type);
    void read_members(const Attributes& attributes, ElementType type);
    void read_leaves(const Attributes& attributes, ElementType type);
};

std::vector<double> tree_numbers(const Attributes& attributes, const char* name, ElementType type) {
    const Tensor* tensor = attributes.tensor(name);
    if (tensor == nullptr) throw UserError("has no " + std::string(name));
    if (tensor->type() != type) throw UserError(std::string(name) + " has not the type of its input");
    return doubles_of(*tensor);
}

std::vector<int64_t> tree_integers(const Attributes& attributes, const char* name, size_t count, size_t below) {
    const std::vector<int64_t> values = attributes.integers(name);
    require_length(values, count, name);
    for (int64_t value : values)
        if (value < 0 || static_cast<size_t>(value) >= below)
            throw UserError(std::string(name) + " holds " + std::to_string(value) + ", which is out of range");
    return values;
}

Trees Trees::of(const Attributes& attributes, ElementType type, int64_t features) {
    Trees trees;
    const int64_t targets = attributes.integer("n_targets", 0);
    if (targets < 1) throw UserError("n_targets is missing or not positive");
    trees.targets = static_cast<size_t>(targets);
    trees.features = static_cast<size_t>(features);
    const int64_t aggregate = attributes.integer("aggregate_function", 1);
    if (aggregate < 0 || aggregate > 3) throw UserError("attribute aggregate_function has an unknown value");
    trees.aggregate = static_cast<TreeAggregate>(aggregate);
    if (attributes.integer("post_transform", 0) != 0) throw Unsupported("post_transform is not handled");
    trees.read_leaves(attributes, type);
    trees.read_nodes(attributes, type);
    trees.read_members(attributes, type);
    const size_t count = attributes.integers("tree_roots").size();
    if (count == 0) throw UserError("has no tree_roots");
    for (int64_t root : tree_integers(attributes, "tree_roots", count, trees.nodes.size()))
        trees.roots.push_back(static_cast<size_t>(root));
    return trees;
}

void Trees::read_leaves(const Attributes& attributes, ElementType type) {
    for (double weight : tree_numbers(attributes, "leaf_weights", type)) leaves.push_back({0, weight});
    const std::vector<int64_t> ids = tree_integers(attributes, "leaf_targetids", leaves.size(), targets);
    for (size_t i = 0; i < leaves.size(); ++i) leaves[i].target = static_cast<size_t>(ids[i]);
}

void Trees::read_nodes(const Attributes& attributes, ElementType type) {
    for (double split : tree_numbers(attributes, "nodes_splits", type)) nodes.emplace_back().split = split;
    const size_t count = nodes.size();
    const Tensor* modes = attributes.tensor("nodes_modes");
    if (modes == nullptr || modes->elements() != static_cast<int64_t>(count))
        throw UserError("nodes_modes does not have one entry per node");
    const std::vector<int64_t> feature = tree_integers(attributes, "nodes_featureids", count, features);
    std::vector<int64_t> missing(count, 0);
    if (attributes.has("nodes_missing_value_tracks_true"))
        missing = tree_integers(attributes, "nodes_missing_value_tracks_true", count, 2);
    const auto read_branch = [&](const char* leaf_flags, const char* ids, TreeBranch TreeNode::*branch) {
        const std::vector<int64_t> flags = tree_integers(attributes, leaf_flags, count, 2);
        const std::vector<int64_t> targets_of = tree_integers(attributes, ids, count, std::max(count, leaves.size()));
        for (size_t i = 0; i < count; ++i) {
            if (static_cast<size_t>(targets_of[i]) >= (flags[i] != 0 ? leaves.size() : count))
                throw UserError(std::string(ids) + " holds " + std::to_string(targets_of[i]) +
                                ", which is out of range");
            nodes[i].*branch = {targets_of[i], flags[i] != 0};
        }
    };
    read_branch("nodes_trueleafs", "nodes_truenodeids", &TreeNode::yes);
    read_branch("nodes_falseleafs", "nodes_falsenodeids", &TreeNode::no);
    const std::vector<int64_t> mode = modes->to_int64();
    for (size_t i = 0; i < count; ++i) {
        if (mode[i] < 0 || mode[i] > 6) throw UserError("nodes_modes holds an unknown mode");
        nodes[i].mode = static_cast<BranchMode>(mode[i]);
        nodes[i].feature = static_cast<size_t>(feature[i]);
        nodes[i].missing_tracks_true = missing[i] != 0;
    }
}

// One set for each node of mode member, in the order of the nodes; a NaN ends each set.
void Trees::read_members(const Attributes& attributes, ElementType type) {
    std::vector<double> values;
    if (attributes.has("membership_values")) values = tree_numbers(attributes, "membership_values", type);
    size_t at = 0;
    for (TreeNode& node : nodes) {
        if (node.mode != BranchMode::member) continue;
        while (at < values.size() && !std::isnan(values[at])) node.members.insert(values[at++]);
        if (at++ == values.size()) throw UserError("membership_values holds fewer sets than there are nodes for them");
    }
    if (at != values.size()) throw UserError("membership_values holds more sets than there are nodes for them");
}

const TreeLeaf& Trees::reach(size_t root, const double* row) const {
    size_t at = root;
    for (size_t steps = 0; steps < nodes.size(); ++steps) {
        const TreeNode& node = nodes[at];
        const TreeBranch& next = node.follow(row[node.feature]);
        if (next.leaf) return leaves[static_cast<size_t>(next.target)];
        at = static_cast<size_t>(next.target);
    }
    throw UserError("its nodes lead in a circle");
}

void infer_tree_ensemble(InferContext& context) {
    const Shape& x = context.shape(0);
    if (x.rank() != 2) throw UserError("an input of " + x.text() + " is no table");
    const Trees trees = Trees::of(context.attributes(), context.type(0), x[1]);
    context.set_output(0, context.type(0), Shape{x[0], static_cast<int64_t>(trees.targets)});
}

// One row's results: the weights of the leaves that its trees reach, target by target.
std::vector<double> tree_results(const Trees& trees, const double* row) {
    std::vector<double> results(trees.targets, 0);
    std::vector<bool> reached(trees.targets, false);
    for (size_t root : trees.roots) {
        const TreeLeaf& leaf = trees.reach(root, row);
        double& result = results[leaf.target];
        const bool first = !reached[leaf.target];
        reached[leaf.target] = true;
        if (trees.aggregate == TreeAggregate::least)
            result = first ? leaf.weight : std::min(result, leaf.weight);
        else if (trees.aggregate == TreeAggregate::largest)
            result = first ? leaf.weight : std::max(result, leaf.weight);
        else
            result += leaf.weight;
    }
    if (trees.aggregate == TreeAggregate::average)
        for (double& result : results) result /= static_cast<double>(trees.roots.size());
    const bool extremum = trees.aggregate == TreeAggregate::least || trees.aggregate == TreeAggregate::largest;
    if (extremum && !std::ranges::all_of(reached, [](bool each) { return each; }))
        throw Unsupported("a target that no leaf reaches has no least or largest weight");
    return results;
}

void tree_ensemble_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Trees trees = Trees::of(context.attributes, context.in(0).type(), shape[1]);
    const std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> y;
    for (int64_t row = 0; row < shape[0]; ++row) {
        const std::vector<double> results = tree_results(trees, x.data() + row * shape[1]);
        y.insert(y.end(), results.begin(), results.end());
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op tree_ensemble_op{{
    .name = "TreeEnsemble",
    .domain = "ai.onnx.ml",
    .since = {5},
    .types = {ElementType::f32, ElementType::f64, ElementType::f16},
    .attributes = {{"aggregate_function", "int", "1", "0: mean over the trees, 1: sum, 2: least, 3: largest"},
                   {"leaf_targetids", "ints", "", "the target of each leaf"},
                   {"leaf_weights", "tensor", "", "the weight of each leaf"},
                   {"membership_values", "tensor", "", "the set of each node of mode 6, each ended by NaN"},
                   {"n_targets", "int", "", "columns of the output"},
                   {"nodes_falseleafs", "ints", "", "1: the no branch of a node is a leaf"},
                   {"nodes_falsenodeids", "ints", "", "the node or leaf of the no branch"},
                   {"nodes_featureids", "ints", "", "the feature that a node looks at"},
                   {"nodes_hitrates", "tensor", "", "not read"},
                   {"nodes_missing_value_tracks_true", "ints", "0", "1: NaN takes the yes branch"},
                   {"nodes_modes", "tensor", "", "0: <=, 1: <, 2: >=, 3: >, 4: ==, 5: !=, 6: member of a set"},
                   {"nodes_splits", "tensor", "", "what a node compares with"},
                   {"nodes_trueleafs", "ints", "", "1: the yes branch of a node is a leaf"},
                   {"nodes_truenodeids", "ints", "", "the node or leaf of the yes branch"},
                   {"post_transform", "int", "0", "only 0 (none) is supported"},
                   {"tree_roots", "ints", "", "the first node of each tree"}},
    .infer = infer_tree_ensemble,
    .reference = tree_ensemble_reference,
    .help =
        "For each row, the weights of the leaves that its features lead to, summed up (or averaged and so on) target "
        "by target.",
}};

}  // namespace headway
