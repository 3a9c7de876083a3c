#include "lower/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace headway {
namespace {

using Word = std::string_view;

const Knob<Word> memory_in_place{{
    .name = "memory.in_place",
    .help = "Whether pointwise steps write over an operand that nobody reads again.",
    .family = "memory",
    .values = {"on", "off"},
    .witness = "in_place",
}};

const Knob<Word> memory_plan{{
    .name = "memory.plan",
    .help = "How arena offsets are given: `best_fit` puts large buffers first into the smallest gap, `first_fit` goes "
            "in the "
            "order of execution, `none` never shares bytes.",
    .family = "memory",
    .values = {"best_fit", "first_fit", "none"},
    .witness = "conv_chain",
}};

const Knob<int64_t> memory_align{{
    .name = "memory.align",
    .help = "Alignment of arena buffers in bytes.",
    .family = "memory",
    .values = {64, 128, 4096},
    .witness = "conv_chain",
}};

const Knob<int64_t> memory_stagger{{
    .name = "memory.stagger",
    .help = "Bytes added behind each arena buffer, so that neighbours do not meet in the same cache sets.",
    .family = "memory",
    .values = {0, 64, 192, 4160},
    .witness = "conv_chain",
}};

struct Life {
    int32_t buffer;
    int first = -1, last = -1;
    int64_t bytes = 0;
};

template <class F>
void for_each_read(const Step& step, F&& f) {
    for (int32_t id : step.src)
        if (id >= 0) f(id);
    for (int32_t id : step.operands) f(id);
}

int64_t bytes_of(const Plan& plan, int32_t id) { return plan.buffers[static_cast<size_t>(id)].desc.bytes(); }

// The last step that reads any byte of each buffer.
std::vector<int> last_reads(const Plan& plan, const Nesting& nesting) {
    std::vector<int> last(plan.buffers.size(), -1);
    for (size_t s = 0; s < plan.steps.size(); ++s)
        for_each_read(plan.steps[s], [&](int32_t id) { last[static_cast<size_t>(id)] = static_cast<int>(s); });
    const std::vector<int32_t> members = nesting.members();
    const std::vector<int> own = last;
    for (int32_t a : members)
        for (int32_t b : members) {
            const Nesting::Spot x = nesting.spot(a), y = nesting.spot(b);
            if (x.whole == y.whole && x.at < y.at + bytes_of(plan, b) && y.at < x.at + bytes_of(plan, a))
                last[static_cast<size_t>(a)] = std::max(last[static_cast<size_t>(a)], own[static_cast<size_t>(b)]);
        }
    return last;
}

void share_in_place(Plan& plan, const Nesting& nesting, const Registry<Kernel>& kernels) {
    std::vector<int> last = last_reads(plan, nesting);
    std::vector<int32_t> renamed(plan.buffers.size());
    std::iota(renamed.begin(), renamed.end(), 0);
    const auto rename = [&](int32_t& id) {
        if (id >= 0) id = renamed[static_cast<size_t>(id)];
    };
    for (size_t s = 0; s < plan.steps.size(); ++s) {
        Step& step = plan.steps[s];
        std::ranges::for_each(step.src, rename);
        std::ranges::for_each(step.operands, rename);
        const Kernel* kernel = kernels.find(step.kernel);
        if (!kernel->fields().in_place || step.dst.size() != 1 || step.dst[0] < 0) continue;
        const int32_t dst = step.dst[0];
        if (plan.buffers[static_cast<size_t>(dst)].place != Place::arena || nesting.shares(dst)) continue;
        // The same bytes and the same layout in every role: the kernel meets each element where it writes it.
        const auto same_everywhere = [&](int32_t id) {
            for (size_t k = 0; k < step.src.size(); ++k)
                if (step.src[k] == id && *step.problem.src[k] != step.problem.dst[0]) return false;
            for (size_t k = 0; k < step.operands.size(); ++k)
                if (step.operands[k] == id && step.problem.operands[k] != step.problem.dst[0]) return false;
            return true;
        };
        const auto fits = [&](int32_t id) {
            return id >= 0 && plan.buffers[static_cast<size_t>(id)].place == Place::arena &&
                   last[static_cast<size_t>(id)] == static_cast<int>(s) && bytes_of(plan, id) == bytes_of(plan, dst) &&
                   same_everywhere(id);
        };
        int32_t over = -1;
        for (size_t k = 0; k < step.src.size() && over < 0; ++k)
            if (fits(step.src[k])) over = step.src[k];
        for (size_t k = 0; k < step.operands.size() && over < 0; ++k)
            if (fits(step.operands[k])) over = step.operands[k];
        if (over < 0) continue;
        renamed[static_cast<size_t>(dst)] = over;
        last[static_cast<size_t>(over)] = last[static_cast<size_t>(dst)];
        step.dst[0] = over;
    }
}

// Of the outermost buffers: alive while any part is.
std::vector<Life> arena_lives(const Plan& plan, const Nesting& nesting) {
    std::vector<Life> lives(plan.buffers.size());
    for (size_t id = 0; id < lives.size(); ++id) lives[id] = {static_cast<int32_t>(id)};
    const auto touch = [&](int32_t id, int step) {
        if (id < 0) return;
        Life& life = lives[static_cast<size_t>(nesting.spot(id).whole)];
        if (life.first < 0) life.first = step;
        life.last = step;
    };
    for (size_t s = 0; s < plan.steps.size(); ++s) {
        for_each_read(plan.steps[s], [&](int32_t id) { touch(id, static_cast<int>(s)); });
        for (int32_t id : plan.steps[s].dst) touch(id, static_cast<int>(s));
    }
    std::erase_if(lives, [&](const Life& life) {
        return life.first < 0 || plan.buffers[static_cast<size_t>(life.buffer)].place != Place::arena;
    });
    for (Life& life : lives) life.bytes = bytes_of(plan, life.buffer);
    return lives;
}

struct Placed {
    int64_t begin, end;
    int first, last;
};

// The lowest offset (best: of the smallest gap) where `life` overlaps nothing that lives at the same time.
int64_t find_offset(const std::vector<Placed>& placed, const Life& life, int64_t bytes, bool smallest_gap) {
    std::vector<std::pair<int64_t, int64_t>> busy;
    for (const Placed& other : placed)
        if (other.first <= life.last && life.first <= other.last) busy.emplace_back(other.begin, other.end);
    std::ranges::sort(busy);
    int64_t best = -1, best_gap = 0, free_from = 0;
    for (const auto& [begin, end] : busy) {
        const int64_t gap = begin - free_from;
        if (gap >= bytes && (best < 0 || (smallest_gap && gap < best_gap))) {
            best = free_from;
            best_gap = gap;
            if (!smallest_gap) break;
        }
        free_from = std::max(free_from, end);
    }
    return best >= 0 ? best : free_from;
}

// Buffers that no step touches (their step writes elsewhere, or only their parts are read) leave the plan.
void drop_unused(Plan& plan) {
    std::vector<bool> used(plan.buffers.size(), false);
    const auto mark = [&](int32_t id) {
        if (id >= 0) used[static_cast<size_t>(id)] = true;
    };
    for (const Step& step : plan.steps) {
        for_each_read(step, mark);
        std::ranges::for_each(step.dst, mark);
    }
    for (const Port& port : plan.inputs) mark(port.buffer);
    for (const Port& port : plan.outputs) mark(port.buffer);
    std::vector<int32_t> renumbered(plan.buffers.size(), -1);
    std::vector<Buffer> kept;
    for (size_t id = 0; id < plan.buffers.size(); ++id) {
        if (!used[id]) continue;
        renumbered[id] = static_cast<int32_t>(kept.size());
        kept.push_back(std::move(plan.buffers[id]));
    }
    plan.buffers = std::move(kept);
    const auto renumber = [&](int32_t& id) {
        if (id >= 0) id = renumbered[static_cast<size_t>(id)];
    };
    for (Step& step : plan.steps) {
        std::ranges::for_each(step.src, renumber);
        std::ranges::for_each(step.operands, renumber);
        std::ranges::for_each(step.dst, renumber);
    }
    for (Port& port : plan.inputs) renumber(port.buffer);
    for (Port& port : plan.outputs) renumber(port.buffer);
}

}  // namespace

void place_memory(Plan& plan, const Nesting& nesting, const Route& route, const Registry<Kernel>& kernels) {
    if (route.get(memory_in_place) == "on") share_in_place(plan, nesting, kernels);
    std::vector<Life> lives = arena_lives(plan, nesting);
    const Word how = route.get(memory_plan);
    if (how == "best_fit") std::ranges::stable_sort(lives, std::greater<>(), &Life::bytes);
    std::vector<Placed> placed;
    for (const Life& life : lives) {
        const int64_t bytes =
            round_up(std::max<int64_t>(life.bytes, 1) + route.get(memory_stagger), route.get(memory_align));
        const int64_t offset = how == "none" ? plan.arena_bytes : find_offset(placed, life, bytes, how == "best_fit");
        plan.buffers[static_cast<size_t>(life.buffer)].index = offset;
        placed.push_back({offset, offset + bytes, life.first, life.last});
        plan.arena_bytes = std::max(plan.arena_bytes, offset + bytes);
    }
    for (int32_t id : nesting.members()) {
        const Nesting::Spot spot = nesting.spot(id);
        plan.buffers[static_cast<size_t>(id)].index = plan.buffers[static_cast<size_t>(spot.whole)].index + spot.at;
    }
    drop_unused(plan);
}

}  // namespace headway
