#include "peak_kernel.h"
