/* The same in C: the header must compile as C and the library must link without a C++ driver. */
#include <stdio.h>
#include <string.h>

#include "headway/headway.h"

int main(int argc, char** argv) {
    hw_engine* engine = NULL;
    hw_context* context = NULL;
    const float x[] = {1, 2, 3, 4}, y[] = {10, 20, 30, 40}, expected[] = {22, 66, 132, 220};
    float out[4];
    const void* inputs[] = {x, y};
    void* outputs[] = {out};
    (void)argc;
    if (hw_engine_load(argv[1], &engine) != HW_OK || hw_context_create(engine, &context) != HW_OK) {
        puts(hw_last_error());
        return 1;
    }
    hw_engine_free(engine); /* the context keeps what it needs */
    if (hw_run(context, inputs, 2, outputs, 1) != HW_OK) {
        puts(hw_last_error());
        return 1;
    }
    hw_context_free(context);
    return memcmp(out, expected, sizeof out) == 0 ? 0 : 1;
}
