#include "search/forest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace headway {
namespace {

// Categories beyond this share the last bit: they can only be split together.
constexpr int most_categories = 64;

int category(const Point& point, size_t axis) { return std::min(point[axis], most_categories - 1); }

struct Sums {
    double count = 0, total = 0;
    double score() const { return count > 0 ? total * total / count : 0; }
};

}  // namespace

struct Forest::Split {
    int axis = -1;
    uint64_t left_values = 0;
    double gain = 0;  // decrease of the sum of squared errors
};

Forest::Forest(const Space& space, std::span<const Point> points, std::span<const double> targets, uint64_t seed,
               const ForestRules& rules)
    : space_(space), points_(points), targets_(targets), rules_(rules), importance_(space.axes(), 0.0) {
    HEADWAY_CHECK(!points.empty() && points.size() == targets.size());
    Rng rng(seed);
    for (int i = 0; i < rules_.trees; ++i) {
        std::vector<uint32_t> rows(points.size());
        for (uint32_t& row : rows) row = static_cast<uint32_t>(rng.below(points.size()));
        grow(trees_.emplace_back(), rows, rng);
    }
}

int Forest::add_node(Tree& tree, std::span<uint32_t> rows) const {
    double total = 0;
    for (const uint32_t row : rows) total += targets_[row];
    Node node;
    node.mean = total / static_cast<double>(rows.size());
    tree.push_back(node);
    return static_cast<int>(tree.size()) - 1;
}

void Forest::grow(Tree& tree, std::vector<uint32_t>& rows, Rng& rng) {
    struct Pending {
        int node;
        std::span<uint32_t> rows;
    };
    std::vector<Pending> pending{{add_node(tree, rows), rows}};
    while (!pending.empty()) {
        const Pending here = pending.back();
        pending.pop_back();
        if (here.rows.size() < rules_.least_rows) continue;
        const Split split = best_split(here.rows, rng);
        if (split.axis < 0) continue;
        importance_[static_cast<size_t>(split.axis)] += split.gain;
        const auto goes_left = [&](uint32_t row) {
            return (split.left_values >> category(points_[row], static_cast<size_t>(split.axis)) & 1) != 0;
        };
        const auto middle = std::stable_partition(here.rows.begin(), here.rows.end(), goes_left);
        const auto count = static_cast<size_t>(middle - here.rows.begin());
        const std::span<uint32_t> left = here.rows.first(count), right = here.rows.subspan(count);
        const int left_node = add_node(tree, left), right_node = add_node(tree, right);
        Node& node = tree[static_cast<size_t>(here.node)];
        node.axis = split.axis;
        node.left_values = split.left_values;
        node.left = left_node;
        node.right = right_node;
        pending.push_back({right_node, right});
        pending.push_back({left_node, left});
    }
}

Forest::Split Forest::best_split(std::span<const uint32_t> rows, Rng& rng) const {
    Split best;
    for (size_t axis = 0; axis < space_.axes(); ++axis) {
        if (space_.values(axis) < 2 || !rng.chance(rules_.axes_per_split)) continue;
        const Split split = split_on(axis, rows);
        if (split.gain > best.gain) best = split;
    }
    return best;
}

// For squared error the best two groups of categories are neighbours in the order of their means.
Forest::Split Forest::split_on(size_t axis, std::span<const uint32_t> rows) const {
    const int categories = std::min(space_.values(axis), most_categories);
    std::array<Sums, most_categories> sums{};
    Sums all;
    for (const uint32_t row : rows) {
        Sums& sum = sums[static_cast<size_t>(category(points_[row], axis))];
        sum.count += 1;
        sum.total += targets_[row];
        all.count += 1;
        all.total += targets_[row];
    }
    std::array<int, most_categories> order{};
    int present = 0;
    for (int value = 0; value < categories; ++value)
        if (sums[static_cast<size_t>(value)].count > 0) order[static_cast<size_t>(present++)] = value;
    const auto mean_of = [&](int value) {
        return sums[static_cast<size_t>(value)].total / sums[static_cast<size_t>(value)].count;
    };
    std::stable_sort(order.begin(), order.begin() + present, [&](int a, int b) { return mean_of(a) < mean_of(b); });

    Split best;
    Sums left;
    uint64_t values = 0;
    for (int i = 0; i + 1 < present; ++i) {
        const int value = order[static_cast<size_t>(i)];
        left.count += sums[static_cast<size_t>(value)].count;
        left.total += sums[static_cast<size_t>(value)].total;
        values |= uint64_t{1} << value;
        const Sums right{all.count - left.count, all.total - left.total};
        const double gain = left.score() + right.score() - all.score();
        // rounding alone must not split equal targets
        if (gain > best.gain && gain > 1e-12 * std::fabs(all.score()) + 1e-15)
            best = {static_cast<int>(axis), values, gain};
    }
    return best;
}

Prediction Forest::predict(const Point& point) const {
    double total = 0, squares = 0;
    for (const Tree& tree : trees_) {
        const Node* node = tree.data();
        while (node->axis >= 0) {
            const bool left = (node->left_values >> category(point, static_cast<size_t>(node->axis)) & 1) != 0;
            node = tree.data() + (left ? node->left : node->right);
        }
        total += node->mean;
        squares += node->mean * node->mean;
    }
    const auto count = static_cast<double>(trees_.size());
    const double mean = total / count;
    return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

}  // namespace headway
