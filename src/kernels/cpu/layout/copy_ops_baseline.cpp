#include "kernels/cpu/layout/copy_ops_kernel.h"
