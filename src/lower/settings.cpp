#include "lower/settings.h"

#include <algorithm>

namespace headway {
namespace {

using Word = std::string_view;

const Knob<Word> threads_count{{
    .name = "threads.count",
    .help = "Threads of the engine, within the target's ceiling.",
    .family = "thread",
    .values = {"all", "1", "2", "4", "8"},
    .witness = "conv_chain",
}};

const Knob<Word> threads_pool{{
    .name = "threads.pool",
    .help = "Who owns the threads: our pool, or an OpenMP team that providers with OpenMP inside share.",
    .family = "thread",
    .values = {"own", "openmp"},
    .witness = "conv_chain",
}};

const Knob<int64_t> spin_us{{
    .name = "threads.spin_us",
    .help = "How long an idle worker spins before it parks, in microseconds. Waking a parked worker costs tens of "
            "microseconds; spinning takes the core from others.",
    .family = "thread",
    .values = {100, 0, 10, 1000, 10000},
    .witness = "conv_chain",
}};

const Knob<int64_t> tasks_per_thread{{
    .name = "threads.tasks_per_thread",
    .help = "Pieces into which a step is cut for each thread: more pieces balance better, fewer touch fewer cache "
            "lines twice.",
    .family = "thread",
    .values = {3, 1, 2, 8},
    .witness = "conv_chain",
}};

const Knob<Word> partition{{
    .name = "threads.partition",
    .help = "How our pool shares out a step: pieces that idle threads take from others (steal), one piece for each "
            "thread that nobody takes over (static), or pieces of half of what is left (guided).",
    .family = "thread",
    .values = {"steal", "static", "guided"},
    .witness = "conv_chain",
}};

const Knob<Word> wait{{
    .name = "threads.wait",
    .help = "What an idle thread of our pool does while it spins: pause keeps its core, yield gives it to whoever else "
            "wants it. threads.spin_us=0 parks at once.",
    .family = "thread",
    .values = {"pause", "yield"},
    .witness = "conv_chain",
}};

const Knob<Word> threads_pin{{
    .name = "threads.pin",
    .help = "Whether threads are bound to the allowed CPUs, one each.",
    .family = "thread",
    .values = {"none", "compact"},
    .witness = "conv_chain",
}};

const Knob<Word> flush_to_zero{{
    .name = "format.flush_to_zero",
    .help =
        "Whether subnormal numbers count as zero while the engine runs; trained weights that hold some run many times "
        "slower without.",
    .family = "format",
    .values = {"on", "off"},
    .numerics = Numerics::approximates,
    .witness = "conv_chain",
}};

const Knob<Word> weight_pages{{
    .name = "memory.weight_pages",
    .help =
        "Where constants lie: huge pages where the kernel grants them, small pages, or the engine file's own mapping.",
    .family = "memory",
    .values = {"thp", "4k", "mapped"},
    .witness = "conv_chain",
}};

const Knob<Word> arena_pages{{
    .name = "memory.arena_pages",
    .help = "Pages of the arena that holds intermediate tensors.",
    .family = "memory",
    .values = {"4k", "thp"},
    .witness = "conv_chain",
}};

}  // namespace

Settings settings_of(const Route& route, const Target& target) {
    Settings settings;
    const Word count = route.get(threads_count);
    settings.threads = count == "all" ? target.threads : std::min(target.threads, std::stoi(std::string(count)));
    settings.pool = route.get(threads_pool);
    settings.spin_us = route.get(spin_us);
    settings.tasks_per_thread = route.get(tasks_per_thread);
    settings.partition = route.get(partition);
    settings.wait = route.get(wait);
    settings.pin = route.get(threads_pin);
    settings.flush_to_zero = route.get(flush_to_zero) == "on";
    settings.weight_pages = route.get(weight_pages);
    settings.arena_pages = route.get(arena_pages);
    // With one thread nothing waits and nothing is cut, and a team shares out by itself: settings without an effect
    // take one form, so that routes which build the same engine show the same fingerprint.
    const Settings plain;
    if (settings.threads == 1) {
        settings.pool = plain.pool;
        settings.spin_us = plain.spin_us;
    }
    if (settings.threads == 1 || settings.pool == "openmp") {
        settings.partition = plain.partition;
        settings.wait = plain.wait;
    }
    if (settings.threads == 1 || settings.partition != plain.partition)
        settings.tasks_per_thread = plain.tasks_per_thread;
    return settings;
}

}  // namespace headway
