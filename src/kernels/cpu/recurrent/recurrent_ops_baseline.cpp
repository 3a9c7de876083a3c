#include "kernels/cpu/recurrent/recurrent_ops_kernel.h"
