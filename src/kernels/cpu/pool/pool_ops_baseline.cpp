#include "kernels/cpu/pool/pool_ops_kernel.h"
