#include "kernels/cpu/recurrent/lstm_ops_kernel.h"
