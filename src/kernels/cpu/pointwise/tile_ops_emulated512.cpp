#include "kernels/cpu/pointwise/tile_ops_kernel.h"
