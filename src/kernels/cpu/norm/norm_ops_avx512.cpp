#include "kernels/cpu/norm/norm_ops_kernel.h"
