#include "kernels/cpu/winograd/weights.h"

#include <cstddef>
#include <cstdint>

namespace headway {
namespace {

constexpr double points2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double points4[6][3] = {{1.0 / 4, 0, 0},
                                  {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                  {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                  {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                  {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                  {0, 0, 1}};
// The rows of 1/2 and -1/2 are divided by 32, which the output transform makes up for.
constexpr double points6[8][3] = {{1, 0, 0},
                                  {-2.0 / 9, -2.0 / 9, -2.0 / 9},
                                  {-2.0 / 9, 2.0 / 9, -2.0 / 9},
                                  {1.0 / 90, 1.0 / 45, 2.0 / 45},
                                  {1.0 / 90, -1.0 / 45, 2.0 / 45},
                                  {1.0 / 45, 1.0 / 90, 1.0 / 180},
                                  {1.0 / 45, -1.0 / 90, 1.0 / 180},
                                  {0, 0, 1}};

}  // namespace

std::vector<float> winograd_weights(int m, std::span<const float> weights, int64_t ic, int64_t oc) {
    const int edge = m + 2;
    const double(*points)[3] = m == 2 ? points2 : m == 4 ? points4 : points6;
    std::vector<float> transformed(static_cast<size_t>(edge * edge * ic * oc));
    for (int64_t o = 0; o < oc; ++o)
        for (int64_t c = 0; c < ic; ++c) {
            const float* w = weights.data() + (o * ic + c) * 9;
            for (int y = 0; y < edge; ++y)
                for (int x = 0; x < edge; ++x) {
                    double sum = 0;
                    for (int i = 0; i < 3; ++i)
                        for (int j = 0; j < 3; ++j) sum += points[y][i] * points[x][j] * double{w[i * 3 + j]};
                    transformed[static_cast<size_t>(((y * edge + x) * ic + c) * oc + o)] = static_cast<float>(sum);
                }
        }
    return transformed;
}

}  // namespace headway
