#include "workers/onnxruntime/knobs.h"

#include <algorithm>
#include <array>

#include "workers/foreign/variants.h"

namespace headway::ort {
namespace {

using Acts = ConfigKnob::Acts;

const std::vector<std::pair<const char*, const char*>> off_on{{"off", "0"}, {"on", "1"}},
    on_off{{"on", "1"}, {"off", "0"}}, on_unless_disabled{{"on", "0"}, {"off", "1"}};

const std::vector<ConfigKnob> config_list{
    {"graph.loop_level",
     "session.graph_optimizations_loop_level",
     {{"1", "1"}, {"0", "0"}, {"2", "2"}},
     "rewrite",
     "reorders",
     Acts::in_graph,
     "",
     "Whether optimisers run again after others changed the graph: never (0), from the layout level on (1), always "
     "(2)."},
    {"graph.function_inlining", "session.disable_aot_function_inlining", on_unless_disabled, "rewrite", "reorders",
     Acts::in_graph, "", "Inline the model's own functions before anything else is optimised."},
    {"graph.gelu_approximation", "optimization.enable_gelu_approximation", off_on, "rewrite", "approximates",
     Acts::in_graph, "", "Compute Gelu by its tanh approximation."},
    {"graph.cast_chains", "optimization.enable_cast_chain_elimination", off_on, "rewrite", "approximates",
     Acts::in_graph, "", "Drop casts to a narrower type and back, with the rounding that they meant."},
    {"graph.folding_limit",
     "optimization.constant_folding_max_output_size_in_bytes",
     {{"1GiB", "1073741824"}, {"1MiB", "1048576"}, {"4KiB", "4096"}, {"none", "0"}},
     "rewrite",
     "reorders",
     Acts::in_graph,
     "",
     "Largest constant that folding may make; larger ones are computed in every call."},
    {"qdq.fusion", "session.disable_quant_qdq", on_unless_disabled, "format", "approximates", Acts::in_graph, "",
     "Turn operators between DequantizeLinear and QuantizeLinear into integer ones."},
    {"qdq.cleanup", "session.enable_quant_qdq_cleanup", off_on, "format", "approximates", Acts::in_graph, "",
     "Drop pairs of QuantizeLinear and DequantizeLinear that are left, with the rounding that they meant."},
    {"qdq.signed", "session.qdqisint8allowed", off_on, "format", "approximates", Acts::in_graph, "",
     "Leave signed activations as they are (on) or make them unsigned, which x86 multiplies faster (off)."},
    {"qdq.unsigned_weights", "session.x64quantprecision", off_on, "format", "approximates", Acts::in_graph, "",
     "Make weights unsigned where the machine's product of unsigned and signed bytes may overflow."},
    {"qdq.folding", "session.disable_qdq_constant_folding", on_unless_disabled, "format", "approximates",
     Acts::in_graph, "", "Fold DequantizeLinear of constants."},
    {"qdq.double_pairs", "session.disable_double_qdq_remover", on_unless_disabled, "format", "approximates",
     Acts::in_graph, "", "Merge two pairs of QuantizeLinear and DequantizeLinear in a row."},
    {"qdq.matmul_nbits", "session.enable_dq_matmulnbits_fusion", off_on, "format", "approximates", Acts::in_graph, "",
     "Fuse DequantizeLinear of blocks of few bits with the MatMul behind it."},
    {"qdq.matmul_nbits_accuracy",
     "session.qdq_matmulnbits_accuracy_level",
     {{"4", "4"}, {"0", "0"}, {"1", "1"}},
     "format",
     "reduced",
     Acts::in_graph,
     "",
     "Arithmetic of such a MatMul: int8 (4), the kernel's choice (0), fp32 (1)."},
    {"kernel.depthwise_sliding", "mlas.nchwc_depthwise_sliding", on_off, "kernel", "exact", Acts::in_operator,
     "com.microsoft.nchwc.Conv", "Depthwise convolution of the blocked layout by a sliding window (AVX-512)."},
    {"kernel.pointwise_batch",
     "mlas.nchwc_pointwise_conv_max_input_channel_batch",
     {{"default", ""}, {"32", "32"}, {"64", "64"}, {"256", "256"}, {"512", "512"}},
     "kernel",
     "reorders",
     Acts::in_operator,
     "com.microsoft.nchwc.Conv",
     "Input channels that a 1x1 convolution of the blocked layout sums before it stores (by default 128)."},
    {"kernel.lut_gemm", "mlas.use_lut_gemm", off_on, "kernel", "approximates", Acts::in_operator,
     "com.microsoft.MatMulNBits", "Products with weights of few bits by table look-up."},
    {"thread.spinning", "session.intra_op.allow_spinning", on_off, "thread", "exact", Acts::with_threads, "",
     "Idle threads of an operator wait for the next one awake (on) or asleep (off)."},
    {"thread.spin_us",
     "session.intra_op.spin_duration_us",
     {{"default", ""}, {"10", "10"}, {"100", "100"}, {"1000", "1000"}},
     "thread",
     "exact",
     Acts::with_threads,
     "",
     "Microseconds for which idle threads stay awake."},
    {"thread.spin_backoff",
     "session.intra_op.spin_backoff_max",
     {{"1", "1"}, {"4", "4"}, {"16", "16"}},
     "thread",
     "exact",
     Acts::with_threads,
     "",
     "Longest pause between two looks of an idle thread for work."},
    {"thread.stop_spinning", "session.force_spinning_stop", off_on, "thread", "exact", Acts::with_threads, "",
     "Threads go to sleep as soon as a call ends."},
    {"thread.block_base",
     "session.dynamic_block_base",
     {{"0", "0"}, {"1", "1"}, {"2", "2"}, {"4", "4"}, {"8", "8"}, {"16", "16"}},
     "thread",
     "exact",
     Acts::with_threads,
     "",
     "Work is cut into ever smaller blocks, by this many a thread; 0 cuts evenly, once."},
    {"thread.inter_spinning", "session.inter_op.allow_spinning", on_off, "thread", "exact", Acts::with_parallel_nodes,
     "", "Threads that run nodes side by side wait for the next one awake (on) or asleep (off)."},
    {"memory.prepacking", "session.disable_prepacking", on_unless_disabled, "memory", "reorders", Acts::at_run, "",
     "Store constants once in the order in which kernels read them."},
    {"memory.initializers",
     "session.use_device_allocator_for_initializers",
     {{"arena", "0"}, {"device", "1"}},
     "memory",
     "exact",
     Acts::at_run,
     "",
     "Constants in the arena, between the activations, or in memory of their own."},
    {"numeric.denormals",
     "session.set_denormal_as_zero",
     {{"keep", "0"}, {"zero", "1"}},
     "kernel",
     "approximates",
     Acts::at_run,
     "",
     "Denormal numbers as they are, or as zero."},
};

// As graph_transformer_utils.cc registers them for the CPU, in that order: rewrite rules, then the passes of each
// level.
constexpr std::array optimizer_list = {
    OptimizerKnob{"EliminateIdentity", "exact", "Remove Identity."},
    OptimizerKnob{"EliminateSlice", "exact", "Remove Slice that takes everything."},
    OptimizerKnob{"UnsqueezeElimination", "exact", "Unsqueeze constants at build time."},
    OptimizerKnob{"EliminateDropout", "exact", "Remove Dropout."},
    OptimizerKnob{"ExpandElimination", "exact", "Remove Expand that changes nothing."},
    OptimizerKnob{"CastElimination", "exact", "Remove Cast to the same type."},
    OptimizerKnob{"PreShapeNodeElimination", "exact", "Remove nodes in front of Shape that keep the shape."},
    OptimizerKnob{"NoopElimination", "exact", "Remove x+0, x-0, x*1 and x/1."},
    OptimizerKnob{"DivMulFusion", "reorders", "Turn (1/x)*y into y/x."},
    OptimizerKnob{"FuseReluClip", "exact", "Merge Relu and the Clip behind it."},
    OptimizerKnob{"GemmSumFusion", "reorders", "Put a sum behind Gemm into its third operand."},
    OptimizerKnob{"GemmTransposeFusion", "reorders", "Put Transpose in front of or behind Gemm into its attributes."},
    OptimizerKnob{"NotWhereFusion", "exact", "Swap the branches of Where instead of negating its condition."},
    OptimizerKnob{"ConvAddFusion", "reorders", "Put a sum behind Conv into its bias."},
    OptimizerKnob{"ConvMulFusion", "reorders", "Put a factor behind Conv into its weights."},
    OptimizerKnob{"ConvBNFusion", "reorders", "Put BatchNormalization behind Conv into its weights."},
    OptimizerKnob{"Pad_Fusion", "exact", "Put Pad in front of Conv or pooling into its padding."},
    OptimizerKnob{"MatMul_BatchNormalization_Fusion", "reorders", "Put BatchNormalization behind MatMul into a Gemm."},
    OptimizerKnob{"LabelEncoderFusion", "exact", "Merge two LabelEncoders. (No model is known that it changes.)"},
    OptimizerKnob{"DoubleQDQPairsRemover", "approximates", "Merge two pairs of QuantizeLinear and DequantizeLinear."},
    OptimizerKnob{"ConstantSharing", "exact", "Store equal small constants once."},
    OptimizerKnob{"CommonSubexpressionElimination", "exact", "Compute equal nodes once."},
    OptimizerKnob{"ConstantFolding", "reorders", "Compute what depends on constants only at build time."},
    OptimizerKnob{"MatMulAddFusion", "reorders", "MatMul and the sum behind it as one Gemm."},
    OptimizerKnob{"ReshapeFusion", "exact", "Replace shapes that are computed for Reshape by constants."},
    OptimizerKnob{"SliceConcatToSpaceToDepthFusion", "exact", "Slices and Concat as one SpaceToDepth."},
    OptimizerKnob{"GeluFusionL1", "reorders", "Gelu written out as one node (operator sets with Gelu)."},
    OptimizerKnob{"LayerNormFusionL1", "reorders",
                  "LayerNormalization written out as one node (operator sets with it)."},
    OptimizerKnob{"QDQPropagationTransformer", "approximates",
                  "Move QuantizeLinear and DequantizeLinear past data movement."},
    OptimizerKnob{"WeightBiasQuantization", "approximates",
                  "Quantise weights and biases between quantised activations."},
    OptimizerKnob{"WhereDummyDq", "exact", "Complete Where for quantisation."},
    OptimizerKnob{"TransposeOptimizer", "reorders", "Push Transposes through the graph until they cancel."},
    OptimizerKnob{"TransposeOptimizer_CPUExecutionProvider", "reorders", "The same once kernels are chosen."},
    OptimizerKnob{"ClipQuantRewrite", "exact", "Remove Clip in front of QuantizeLinear that clips as well."},
    OptimizerKnob{"ReluQuantRewrite", "exact", "Remove Relu in front of QuantizeLinear that clips as well."},
    OptimizerKnob{"QDQS8ToU8Transformer", "approximates", "Make signed quantised activations unsigned."},
    OptimizerKnob{"QDQSelectorActionTransformer", "approximates",
                  "Operators between DequantizeLinear and QuantizeLinear as integer ones."},
    OptimizerKnob{"GemmActivationFusion", "reorders", "Gemm and the activation behind it as one node."},
    OptimizerKnob{"MatMulIntegerToFloatFusion", "reorders", "MatMulInteger, cast and scales as one node."},
    OptimizerKnob{"DynamicQuantizeMatMulFusion", "reorders", "DynamicQuantizeLinear and MatMulInteger as one node."},
    OptimizerKnob{"ConvActivationFusion", "reorders", "Conv and the activation behind it as one node."},
    OptimizerKnob{"GeluFusionL2", "reorders", "Gelu written out as one node of ONNX Runtime."},
    OptimizerKnob{"LayerNormFusionL2", "reorders", "LayerNormalization written out as one node of ONNX Runtime."},
    OptimizerKnob{"SimplifiedLayerNormFusion", "reorders", "RMS normalisation written out as one node."},
    OptimizerKnob{"AttentionFusion", "reorders",
                  "Self-attention written out as one node. (No model is known that it changes.)"},
    OptimizerKnob{"EmbedLayerNormFusion", "reorders",
                  "Embeddings, their sum and normalisation as one node. (No model is known that it changes.)"},
    OptimizerKnob{"GatherSliceToSplitFusion", "exact", "Gathers or Slices that partition a tensor as one Split."},
    OptimizerKnob{"GatherToSliceFusion", "exact", "Gather with a range of indices as Slice."},
    OptimizerKnob{"MatmulTransposeFusion", "reorders", "MatMul and Transposes of its operands as one node."},
    OptimizerKnob{"BiasGeluFusion", "reorders", "Bias and Gelu as one node."},
    OptimizerKnob{"SwiGluFusion", "reorders",
                  "Gated units written out as one node. (No model is known that it changes.)"},
    OptimizerKnob{"SkipLayerNormFusion", "reorders", "A sum and the normalisation behind it as one node."},
    OptimizerKnob{"BiasSkipLayerNormFusion", "reorders", "A bias in front of such a node into it."},
    OptimizerKnob{"FastGeluFusion", "reorders",
                  "Gelu by tanh, written out, as one node. (No model is known that it changes.)"},
    OptimizerKnob{"QuickGeluFusion", "reorders", "x*sigmoid(a*x) as one node."},
    OptimizerKnob{"BiasSoftmaxFusion", "reorders",
                  "A sum and the Softmax behind it as one node. (No model is known that it changes.)"},
    OptimizerKnob{"MatMulScaleFusion", "reorders", "Factors of MatMul's operands or result into the node."},
    OptimizerKnob{"MatMulNBitsFusion", "reorders", "MatMulNBits and the sum behind it as one node."},
    OptimizerKnob{"GroupQueryAttentionPreNormFusion", "reorders",
                  "Normalisation in front of grouped attention into it. (No model is known that it changes.)"},
    OptimizerKnob{"QDQFinalCleanupTransformer", "approximates",
                  "Remove QuantizeLinear and DequantizeLinear that cancel."},
    OptimizerKnob{"NchwcTransformer", "reorders", "Convolutions and pooling in a layout of blocks of channels."},
    OptimizerKnob{"NhwcTransformer", "exact", "Quantised and half-precision convolutions with channels last."},
    OptimizerKnob{"ConvAddActivationFusion", "reorders",
                  "Conv, a sum and the activation behind them as one node. (No model is known that it changes.)"},
};

std::vector<std::string> thread_counts(int ceiling) {
    constexpr int all_up_to = 16;
    std::vector<std::string> counts;
    for (int count = ceiling; count > all_up_to; count = (count + 1) / 2) counts.push_back(std::to_string(count));
    for (int count = std::min(ceiling, all_up_to); count >= 1; --count) counts.push_back(std::to_string(count));
    return counts;
}

}  // namespace

std::span<const ConfigKnob> config_knobs() { return config_list; }
std::span<const OptimizerKnob> optimizer_knobs() { return optimizer_list; }

std::vector<KnobDescription> describe_knobs(int ceiling, std::span<const std::string> variants) {
    const auto graph_wide = [](std::string name, std::string help, std::string family, std::vector<std::string> values,
                               std::string numerics) {
        return KnobDescription{std::move(name),   std::move(help),     std::move(family),
                               std::move(values), std::move(numerics), "graph"};
    };
    std::vector<KnobDescription> knobs{
        graph_wide("graph.level", "How much of the graph optimisation is allowed.", "rewrite",
                   {"all", "layout", "extended", "basic", "disabled"}, "reorders"),
        graph_wide("graph.free_dimensions",
                   "Leave extents open that the model names (model), or fix them to those of the data (bound).",
                   "rewrite", {"model", "bound"}, "reorders"),
        graph_wide("thread.intra",
                   "Threads of one operator. The first value is the ceiling given by --threads (by default as many as "
                   "this process may use): what is compared with, whereas ONNX Runtime by itself takes one a core.",
                   "thread", thread_counts(ceiling), "reorders"),
        graph_wide("thread.execution",
                   "Nodes one after the other, or side by side where they do not depend on another.", "thread",
                   {"sequential", "parallel"}, "exact"),
        graph_wide("thread.inter", "Nodes that run side by side under thread.execution=parallel.", "thread",
                   thread_counts(ceiling), "exact"),
        graph_wide("memory.arena", "Memory for activations from an arena (on) or from malloc (off).", "memory",
                   {"on", "off"}, "exact"),
        graph_wide("memory.pattern", "Plan activations of one shape as one block from the second call on.", "memory",
                   {"on", "off"}, "exact"),
    };
    for (const ConfigKnob& knob : config_knobs()) {
        std::vector<std::string> values;
        for (const auto& [word, value] : knob.values) values.emplace_back(word);
        knobs.push_back(graph_wide(knob.name, knob.help, knob.family, values, knob.numerics));
    }
    for (const OptimizerKnob& knob : optimizer_knobs())
        knobs.push_back(
            graph_wide(std::string("optimizer.") + knob.name, knob.help, "fusion", {"on", "off"}, knob.numerics));
    if (!variants.empty()) {
        std::vector<std::string> values{Variants::the_model_itself};
        values.insert(values.end(), variants.begin(), variants.end());
        knobs.push_back(graph_wide(Variants::knob, "The model as given, or one of the files offered in its place.",
                                   "format", values, "reduced"));
    }
    return knobs;
}

}  // namespace headway::ort
