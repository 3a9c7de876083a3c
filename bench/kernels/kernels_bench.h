// The families of kernels that kernels_bench times; peak in GFLOP/s is what their speeds are compared with.
#pragma once

namespace headway {

void register_convolutions(double peak);
void register_products(double peak);

}  // namespace headway
