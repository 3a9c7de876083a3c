#include "kernels/cpu/testing/conv_cases.h"

#include <cmath>

#include "kernels/kernel_testing.h"

namespace headway::testing {
namespace {

int64_t out_extent(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
    return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

Shape image_shape(const ConvCase& c, int64_t channels, int64_t h, int64_t w) {
    return c.one_dimension ? Shape{c.batch, channels, w} : Shape{c.batch, channels, h, w};
}

void set_attributes(const ConvCase& c, Attributes& attributes) {
    using List = std::vector<int64_t>;
    attributes.set("strides", c.one_dimension ? List{c.sw} : List{c.sh, c.sw});
    attributes.set("dilations", c.one_dimension ? List{c.dw} : List{c.dh, c.dw});
    attributes.set("pads", c.one_dimension ? List{c.left, c.right} : List{c.top, c.left, c.bottom, c.right});
    attributes.set("group", c.group);
}

// Calls visit(product) for each product under the window of output (n, oc, oh, ow).
template <class Visit>
void for_each_product(const ConvCase& c, const float* x, const float* w, ComputeFormat format, int64_t n, int64_t oc,
                      int64_t oh, int64_t ow, Visit visit) {
    const int64_t channels = c.ic / c.group, first = oc / (c.oc / c.group) * channels;
    for (int64_t i = 0; i < channels; ++i)
        for (int64_t a = 0; a < c.kh; ++a)
            for (int64_t b = 0; b < c.kw; ++b) {
                const int64_t ih = oh * c.sh - c.top + a * c.dh, iw = ow * c.sw - c.left + b * c.dw;
                if (ih < 0 || ih >= c.ih || iw < 0 || iw >= c.iw) continue;
                visit(operand(x[((n * c.ic + first + i) * c.ih + ih) * c.iw + iw], format) *
                      operand(w[((oc * channels + i) * c.kh + a) * c.kw + b], format));
            }
}

void add_epilogue(const ConvCase& c, ConvInstance& instance) {
    if (!c.epilogue) return;
    Problem& problem = instance.problem;
    problem.epilogue = Program::parse("r1=load 0; r0=add r0 r1; r2=load 1; r0=mul r0 r2; r0=clip r0 -1 1.5 -> r0");
    const TensorDesc& dst = problem.dst[0];
    Shape per_channel = dst.shape;
    for (size_t i = 0; i < per_channel.rank(); ++i)
        if (i != 1) per_channel[i] = 1;
    problem.operands = {dst, TensorDesc{ElementType::f32, per_channel, Layout::plain}};
    instance.operands.push_back(random_tensor(dst.shape, 4));
    instance.operands.push_back(random_tensor(per_channel, 5));
}

void expect(const ConvCase& c, ComputeFormat format, ConvInstance& instance) {
    const Shape& shape = instance.problem.dst[0].shape;
    const int64_t spatial = shape.elements(2, shape.rank());
    const float* x = instance.src[0].data<float>().data();
    const float* w = instance.src[1].data<float>().data();
    const int64_t width = shape.back();
    for (int64_t at = 0; at < shape.elements(); ++at) {
        const int64_t channel = at / spatial % c.oc;
        double value = c.bias ? instance.src[2].at(channel) : 0, scale = std::abs(value);
        const auto add = [&](double product) {
            value += product;
            scale += std::abs(product);
        };
        for_each_product(c, x, w, format, at / spatial / c.oc, channel, at % spatial / width, at % width, add);
        if (c.epilogue) {
            const double operands[] = {instance.operands[0].at(at), instance.operands[1].at(channel)};
            evaluate(instance.problem.epilogue, value, operands, &value);
            scale += 2;
        }
        instance.expected.push_back(value);
        instance.scale.push_back(scale);
    }
}

}  // namespace

std::string ConvCase::text() const {
    const auto x = [](int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); };
    return "batch " + std::to_string(batch) + " ic " + std::to_string(ic) + " image " + x(ih, iw) + " oc " +
           std::to_string(oc) + " kernel " + x(kh, kw) + " stride " + x(sh, sw) + " dilation " + x(dh, dw) + " pads " +
           x(top, left) + "," + x(bottom, right) + " group " + std::to_string(group) + (bias ? " bias" : "") +
           (one_dimension ? " 1d" : "") + (epilogue ? " epilogue" : "");
}

ConvInstance make_conv(const ConvCase& c, Layout src, Layout dst, Expect what, ComputeFormat format) {
    ConvInstance instance;
    instance.src.push_back(random_tensor(image_shape(c, c.ic, c.ih, c.iw), 1));
    Shape weights{c.oc, c.ic / c.group, c.kh, c.kw};
    if (c.one_dimension) weights = Shape{c.oc, c.ic / c.group, c.kw};
    instance.src.push_back(random_tensor(weights, 2));
    if (c.bias) instance.src.push_back(random_tensor(Shape{c.oc}, 3));
    Problem& problem = instance.problem;
    problem.op = "Conv";
    problem.version = 11;
    set_attributes(c, problem.attributes);
    for (const Tensor& tensor : instance.src) {
        problem.src.push_back(TensorDesc{ElementType::f32, tensor.shape(), problem.src.empty() ? src : Layout::plain});
        problem.constant.push_back(problem.src.size() > 1);
    }
    const int64_t oh = c.one_dimension ? 1 : out_extent(c.ih, c.kh, c.sh, c.dh, c.top + c.bottom);
    const int64_t ow = out_extent(c.iw, c.kw, c.sw, c.dw, c.left + c.right);
    problem.dst.push_back(TensorDesc{ElementType::f32, image_shape(c, c.oc, oh, ow), dst});
    add_epilogue(c, instance);
    if (what == Expect::values) expect(c, format, instance);
    return instance;
}

std::string check_conv(const Kernel& kernel, const ConvCase& c, Layout src, Layout dst, const Choices& choices,
                       double tolerance) {
    const ConvInstance instance = make_conv(c, src, dst, Expect::values, kernel.fields().compute);
    const Target target = target_of(kernel);
    const Verdict verdict = kernel.supports(instance.problem, target, choices);
    if (!verdict) return "refused: " + verdict.text();
    const KernelCase test = case_of(instance.problem, instance.src, instance.operands, choices);
    const std::string wrong =
        first_wrong(run_kernel<float>(kernel, test, 0, target), instance.expected, instance.scale, tolerance);
    return wrong.empty() ? "" : std::string(kernel.name()) + " on " + c.text() + ": " + wrong;
}

std::vector<ConvCase> odd_conv_cases() {
    std::vector<ConvCase> cases = {
        {.ic = 1, .oc = 1, .kh = 1, .kw = 1},
        {.ic = 8, .ih = 5, .iw = 5, .oc = 24, .kh = 1, .kw = 1},
        {.batch = 2, .ic = 33, .ih = 7, .iw = 5, .oc = 33, .kh = 1, .kw = 1, .epilogue = true},
        {.ic = 24, .ih = 9, .iw = 9, .oc = 40, .kh = 1, .kw = 1, .sh = 2, .sw = 2, .bias = false},
        {.ic = 300, .ih = 5, .iw = 3, .oc = 18, .kh = 1, .kw = 1},
        {.ic = 3,
         .ih = 19,
         .iw = 18,
         .oc = 16,
         .kh = 7,
         .kw = 7,
         .sh = 2,
         .sw = 2,
         .top = 3,
         .left = 3,
         .bottom = 3,
         .right = 3},
        {.ic = 3,
         .ih = 19,
         .iw = 19,
         .oc = 16,
         .sh = 2,
         .sw = 2,
         .top = 0,
         .left = 1,
         .bottom = 1,
         .right = 2,
         .epilogue = true},
        {.ic = 17, .ih = 19, .iw = 19, .oc = 24, .top = 1, .left = 1, .bottom = 1, .right = 1},
        {.ic = 24, .ih = 6, .iw = 8, .oc = 8, .top = 1, .left = 1, .bottom = 1, .right = 1, .epilogue = true},
        {.batch = 2,
         .ic = 8,
         .ih = 13,
         .iw = 11,
         .oc = 17,
         .dh = 2,
         .dw = 3,
         .top = 2,
         .left = 3,
         .bottom = 2,
         .right = 3},
        {.ic = 5, .ih = 4, .iw = 4, .oc = 9, .kh = 5, .kw = 3, .top = 4, .left = 2, .bottom = 0, .right = 1},
        {.ic = 12, .ih = 9, .iw = 7, .oc = 18, .top = 1, .left = 1, .bottom = 1, .right = 1, .group = 3},
        {.ic = 32,
         .ih = 5,
         .iw = 6,
         .oc = 64,
         .top = 1,
         .left = 1,
         .bottom = 1,
         .right = 1,
         .group = 32,
         .epilogue = true},
        {.ic = 8, .ih = 1, .iw = 40, .oc = 8, .kh = 1, .kw = 13, .left = 6, .right = 6, .one_dimension = true},
        {.ic = 1, .ih = 1, .iw = 700, .oc = 36, .kh = 1, .kw = 64, .sw = 16},
        {.ic = 1, .ih = 1, .iw = 700, .oc = 1, .kh = 1, .kw = 64, .sw = 2, .epilogue = true},
        {.batch = 3,
         .ic = 4,
         .ih = 1,
         .iw = 33,
         .oc = 3,
         .kh = 1,
         .kw = 5,
         .dw = 2,
         .left = 4,
         .right = 4,
         .one_dimension = true},
        {.ic = 32, .ih = 12, .iw = 9, .oc = 1, .kh = 7, .top = 3, .left = 1, .bottom = 3, .right = 1, .epilogue = true},
        {.ic = 9,
         .ih = 7,
         .iw = 20,
         .oc = 2,
         .kh = 3,
         .kw = 3,
         .top = 1,
         .left = 1,
         .bottom = 1,
         .right = 1,
         .bias = false},
        {.ic = 11,
         .ih = 9,
         .iw = 9,
         .oc = 4,
         .kh = 5,
         .kw = 5,
         .sh = 2,
         .sw = 3,
         .top = 2,
         .left = 2,
         .bottom = 2,
         .right = 2,
         .epilogue = true},
        {.batch = 0, .ic = 8, .oc = 16},
        {.ic = 16, .ih = 1, .iw = 1, .oc = 6, .kh = 1, .kw = 1},
        {.ic = 130, .ih = 3, .iw = 3, .oc = 50, .top = 1, .left = 1, .bottom = 1, .right = 1, .epilogue = true},
    };
    return cases;
}

}  // namespace headway::testing
