#include "kernels/cpu/typed/typed_ops_kernel.h"
