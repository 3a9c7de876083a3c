#include "kernels/cpu/attention/attention_ops_kernel.h"
