// A random forest over points: regression trees with categorical splits on bootstrap samples. The spread of the trees
// says how little is known somewhere. Fits hundreds of rows and axes in milliseconds and needs no scaling.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/space.h"

namespace headway {

struct ForestRules {
    int trees = 40;
    double axes_per_split = 0.67;
    size_t least_rows = 4;  // of a node that may be split
};

struct Prediction {
    double mean = 0;
    double spread = 0;  // standard deviation over the trees
};

class Forest {
public:
    // At least one row; `targets` are as many as points. Categories are 0..values(axis)-1.
    Forest(const Space& space, std::span<const Point> points, std::span<const double> targets, uint64_t seed,
           const ForestRules& rules = {});

    Prediction predict(const Point& point) const;
    // How much of the targets' variance the splits on each axis explained; not normalised.
    const std::vector<double>& importance() const { return importance_; }

private:
    struct Node {
        int axis = -1;             // -1: a leaf
        uint64_t left_values = 0;  // bit set of the categories that go left
        int left = 0, right = 0;
        double mean = 0;
    };
    using Tree = std::vector<Node>;
    struct Split;

    void grow(Tree& tree, std::vector<uint32_t>& rows, Rng& rng);
    int add_node(Tree& tree, std::span<uint32_t> rows) const;
    Split best_split(std::span<const uint32_t> rows, Rng& rng) const;
    Split split_on(size_t axis, std::span<const uint32_t> rows) const;

    const Space& space_;
    std::span<const Point> points_;
    std::span<const double> targets_;
    ForestRules rules_;
    std::vector<Tree> trees_;
    std::vector<double> importance_;
};

}  // namespace headway
