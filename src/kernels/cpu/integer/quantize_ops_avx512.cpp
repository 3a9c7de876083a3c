#include "kernels/cpu/integer/quantize_ops_kernel.h"
