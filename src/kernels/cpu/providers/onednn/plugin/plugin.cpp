#include "kernels/cpu/providers/onednn/plugin/entry.h"

#include <omp.h>

#include <map>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using dnnl::memory;

using Arguments = std::unordered_map<int, memory>;

struct OnednnPrimitive {
    dnnl::primitive primitive;
    memory::desc src, weights, plain_weights, bias, dst, scratch;

    // Making memory objects takes some microseconds, as long as many a small layer: a call takes a set that an earlier
    // one left and points it at its own data. Several threads run one primitive at a time.
    mutable std::mutex mutex = {};
    mutable std::vector<Arguments> idle = {};
};

struct OnednnWeights {
    memory values;
};

namespace {

const dnnl::engine& cpu() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

// oneDNN plans for as many threads as OpenMP would give the caller: one, while Headway's threads call it.
class OneThread {
public:
    OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before_); }

private:
    int before_;
};

// Runs body and returns its result, or `failure` for whatever it throws.
template <class Result, class Body>
Result guarded(Result failure, Body&& body) noexcept {
    try {
        const OneThread one;
        return body();
    } catch (...) {
        return failure;
    }
}

const char* kept(const std::string& name) {
    static std::mutex mutex;
    static std::set<std::string> names;
    const std::lock_guard lock(mutex);
    return names.insert(name).first->c_str();
}

// Reference code, narrower sets than the kernels ask for, and tiles that no target describes are left out.
bool usable(const std::string& name, bool avx512) {
    for (const char* word : {"ref", "sse", "amx"})
        if (name.find(word) != std::string::npos) return false;
    return avx512 || name.find("avx512") == std::string::npos;
}

// Moves `description` on to the wanted usable implementation; `left` counts down over calls.
template <class Description>
bool advance(Description& description, bool avx512, int& left) {
    if (!description) return false;
    do {
        if (usable(description.impl_info_str(), avx512) && left-- == 0) return true;
    } while (description.next_impl());
    return false;
}

dnnl::primitive_attr attributes() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

memory::desc image(int64_t batch, int64_t channels, int64_t height, int64_t width, int32_t layout) {
    using tag = memory::format_tag;
    const tag tags[] = {tag::nchw, tag::nhwc, tag::nChw8c, tag::nChw16c};
    return {{batch, channels, height, width}, memory::data_type::f32, tags[layout]};
}

memory::desc vector_of(int64_t count) { return {{count}, memory::data_type::f32, memory::format_tag::x}; }

memory::desc weights_of(const OnednnConv& c, bool plain) {
    using tag = memory::format_tag;
    const auto type = memory::data_type::f32;
    if (c.group == 1) return {{c.oc, c.ic, c.kh, c.kw}, type, plain ? tag::oihw : tag::any};
    return {{c.group, c.oc / c.group, c.ic / c.group, c.kh, c.kw}, type, plain ? tag::goihw : tag::any};
}

dnnl::convolution_forward::primitive_desc describe(const OnednnConv& c) {
    using Conv = dnnl::convolution_forward;
    const memory::desc src = image(c.batch, c.ic, c.ih, c.iw, c.src_layout),
                       dst = image(c.batch, c.oc, c.oh, c.ow, c.dst_layout);
    const memory::dims strides{c.stride_h, c.stride_w}, dilates{c.dilation_h - 1, c.dilation_w - 1},
        before{c.pad_top, c.pad_left}, after{c.pad_bottom, c.pad_right};
    int left = c.implementation;
    for (const auto algorithm : {dnnl::algorithm::convolution_direct, dnnl::algorithm::convolution_winograd}) {
        const bool winograd = algorithm == dnnl::algorithm::convolution_winograd;
        if (winograd && (c.kh != 3 || c.kw != 3 || c.group != 1)) continue;
        const Conv::desc operation =
            c.has_bias != 0 ? Conv::desc(dnnl::prop_kind::forward_inference, algorithm, src, weights_of(c, false),
                                         vector_of(c.oc), dst, strides, dilates, before, after)
                            : Conv::desc(dnnl::prop_kind::forward_inference, algorithm, src, weights_of(c, false), dst,
                                         strides, dilates, before, after);
        Conv::primitive_desc description(operation, attributes(), cpu(), true);
        if (advance(description, c.avx512 != 0, left)) return description;
    }
    return {};
}

dnnl::matmul::primitive_desc describe(const OnednnMatmul& m) {
    const auto type = memory::data_type::f32;
    const memory::desc src({m.m, m.k}, type, memory::format_tag::ab),
        weights({m.k, m.n}, type, memory::format_tag::any), bias({1, m.n}, type, memory::format_tag::ab),
        dst({m.m, m.n}, type, memory::dims{m.dst_row, 1});
    const dnnl::matmul::desc operation =
        m.has_bias != 0 ? dnnl::matmul::desc(src, weights, bias, dst) : dnnl::matmul::desc(src, weights, dst);
    dnnl::matmul::primitive_desc description(operation, attributes(), cpu(), true);
    int left = m.implementation;
    return advance(description, m.avx512 != 0, left) ? description : dnnl::matmul::primitive_desc{};
}

template <class Operation>
const char* find(const Operation* operation) {
    return guarded(static_cast<const char*>(nullptr), [&]() -> const char* {
        const auto description = describe(*operation);
        return description ? kept(description.impl_info_str()) : nullptr;
    });
}

template <class Primitive, class Operation>
OnednnPrimitive* make(const Operation* operation, const memory::desc& plain_weights) {
    const auto description = describe(*operation);
    if (!description) return nullptr;
    return new OnednnPrimitive{.primitive = Primitive(description),
                               .src = description.src_desc(),
                               .weights = description.weights_desc(),
                               .plain_weights = plain_weights,
                               .bias = description.bias_desc(),
                               .dst = description.dst_desc(),
                               .scratch = description.scratchpad_desc()};
}

OnednnPrimitive* make_conv(const OnednnConv* c) {
    return guarded(static_cast<OnednnPrimitive*>(nullptr),
                   [&] { return make<dnnl::convolution_forward>(c, weights_of(*c, true)); });
}

OnednnPrimitive* make_matmul(const OnednnMatmul* m) {
    return guarded(static_cast<OnednnPrimitive*>(nullptr), [&] {
        return make<dnnl::matmul>(m,
                                  memory::desc({m->k, m->n}, memory::data_type::f32, memory::dims{m->weights_row, 1}));
    });
}

OnednnWeights* load_weights(const OnednnPrimitive* p, const float* plain) {
    return guarded(static_cast<OnednnWeights*>(nullptr), [&] {
        const memory from(p->plain_weights, cpu(), const_cast<float*>(plain));
        memory to(p->weights, cpu());
        dnnl::stream stream(cpu());
        dnnl::reorder(from, to).execute(stream, const_cast<memory&>(from), to);
        stream.wait();
        return new OnednnWeights{to};
    });
}

Arguments take_arguments(const OnednnPrimitive& p) {
    const std::lock_guard lock(p.mutex);
    if (!p.idle.empty()) {
        Arguments args = std::move(p.idle.back());
        p.idle.pop_back();
        return args;
    }
    Arguments args;
    for (const auto& [name, description] :
         {std::pair(DNNL_ARG_SRC, &p.src), std::pair(DNNL_ARG_WEIGHTS, &p.weights), std::pair(DNNL_ARG_DST, &p.dst),
          std::pair(DNNL_ARG_SCRATCHPAD, &p.scratch)})
        args.emplace(name, memory(*description, cpu(), nullptr));
    if (!p.bias.is_zero()) args.emplace(DNNL_ARG_BIAS, memory(p.bias, cpu(), nullptr));
    return args;
}

int32_t run(const OnednnPrimitive* p, const float* src, const OnednnWeights* weights, const float* bias, float* dst,
            void* scratch) {
    return guarded(0, [&] {
        static thread_local dnnl::stream stream(cpu());
        Arguments args = take_arguments(*p);
        args.at(DNNL_ARG_SRC).set_data_handle(const_cast<float*>(src));
        args.at(DNNL_ARG_WEIGHTS).set_data_handle(weights->values.get_data_handle());
        args.at(DNNL_ARG_DST).set_data_handle(dst);
        args.at(DNNL_ARG_SCRATCHPAD).set_data_handle(scratch);
        if (bias != nullptr) args.at(DNNL_ARG_BIAS).set_data_handle(const_cast<float*>(bias));
        p->primitive.execute(stream, args);
        stream.wait();
        const std::lock_guard lock(p->mutex);
        p->idle.push_back(std::move(args));
        return 1;
    });
}

const char* version() {
    const dnnl_version_t* v = dnnl_version();
    static const std::string text =
        std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
    return text.c_str();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const OnednnEntry* headway_onednn_entry(void) {
    static const OnednnEntry entry{headway_onednn_entry_version,
                                   version(),
                                   find<OnednnConv>,
                                   find<OnednnMatmul>,
                                   make_conv,
                                   make_matmul,
                                   [](const OnednnPrimitive* p) { return p->scratch.get_size(); },
                                   load_weights,
                                   [](const OnednnPrimitive* a, const OnednnPrimitive* b) {
                                       return static_cast<int32_t>(a->weights == b->weights);
                                   },
                                   run,
                                   [](OnednnPrimitive* p) { delete p; },
                                   [](OnednnWeights* w) { delete w; }};
    return &entry;
}
