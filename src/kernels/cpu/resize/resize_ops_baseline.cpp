#include "kernels/cpu/resize/resize_ops_kernel.h"
