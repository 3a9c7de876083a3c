#include "kernels/cpu/reduce/reduce_ops_kernel.h"
