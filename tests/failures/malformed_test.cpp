// Public failures of malformed models: ranks that are trusted, extents that overflow, names that are used twice.
#include "everywhere.h"
#include "graph/text.h"

namespace headway::testing {
namespace {

// G51: operators whose definition asks for a rank say no to another one.
TEST(Ranks, AreNotTrusted) {
    const Tensor x = ramp({4});
    for (const char* call :
         {"Gemm(%x, %x) @\"odd\"", "Conv(%x, %x) @\"odd\"", "MaxPool(%x) {kernel_shape=[1]} @\"odd\"",
          "GlobalAveragePool(%x) @\"odd\"", "InstanceNormalization(%x, %x, %x) @\"odd\"", "LRN(%x) {size=3} @\"odd\"",
          "DepthToSpace(%x) {blocksize=2} @\"odd\"", "LSTM:14(%x, %x, %x) {hidden_size=1} @\"odd\"",
          "ConvTranspose(%x, %x) @\"odd\"", "GridSample(%x, %x) @\"odd\""})
        expect_refused(std::string("graph { input %x: f32[4] %y = ") + call + " output %y }", {x}, {"odd"});
}

// G51: extents whose product, bytes or sum does not fit, in each place where one is computed.
TEST(Extents, ThatOverflowAreRefused) {
    const Tensor x = ramp({2});
    const std::string huge = std::to_string(int64_t{1} << 62), most = "9223372036854775807";
    for (const std::string& call :
         {"const %s: i64[2] = {" + huge + "," + huge + "} %y = Expand(%x, %s) @\"odd\"",
          "const %s: i64[1] = {" + most + "} %y = Tile(%x, %s) @\"odd\"",
          "const %s: i64[2] = {" + most + "," + most + "} %y = Pad(%x, %s) @\"odd\"",
          "const %s: i64[3] = {" + huge + ",4,2} %y = ConstantOfShape(%s) @\"odd\"",
          "const %s: i64[2] = {" + huge + ",-1} %y = Reshape(%x, %s) @\"odd\"",
          "const %s: i64[1] = {" + most + "} const %e: f32[0] = {} %y = Resize:13(%x, %e, %e, %s) @\"odd\""})
        expect_refused("graph { input %x: f32[2] " + call + " output %y }", {x}, {});
}

// G82, G55: two values of one name, a value that two nodes make, a cycle: none of it gets past the parser.
TEST(Names, OfValuesAreUnique) {
    for (const char* text : {"graph { input %x: f32[1] %y = Neg(%x) %y = Abs(%x) output %y }",
                             "graph { input %x: f32[1] input %x: f32[1] output %x }",
                             "graph { input %x: f32[1] const %x: f32[1] = {1} output %x }",
                             "graph { input %x: f32[1] %x = Neg(%x) output %x }"})
        EXPECT_THROW(parse_graph(text), UserError) << text;
    // Names of nodes may repeat.
    expect_everywhere("graph { input %x: f32[1] %y = Neg(%x) @\"same\" %z = Abs(%y) @\"same\" output %z }",
                      {f32({1}, {3})}, {{{1}, {3}}}, 0);
}

// G15: every declared output exists under its name, whatever stands in front of it.
TEST(OutputNames, AreKept) {
    const std::string text = R"(graph {
        input %x: f32[3]
        const %c: f32[3] = {7,8,9}
        %y = Identity(%x)
        %z = Identity(%y)
        %k = Identity(%c)
        %r = Relu(%x)
        %s = Identity(%r)
        %t = Identity(%r)
        output %y
        output %x
        output %z
        output %k
        output %c
        output %s
        output %r
        output %t
    })";
    const std::vector<double> x{-1, 2, 3}, r{0, 2, 3}, c{7, 8, 9};
    expect_everywhere(text, {f32({3}, {-1, 2, 3})},
                      {{{3}, x}, {{3}, x}, {{3}, x}, {{3}, c}, {{3}, c}, {{3}, r}, {{3}, r}, {{3}, r}}, 0);
    for (const std::string& route : every_route()) {
        const Plan plan =
            build(parse_graph(text), {}, Route::parse(route, catalogue().knobs), Target::native(), catalogue()).plan;
        std::string names;
        for (const Port& port : plan.outputs) names += port.name + " ";
        EXPECT_EQ(names, "y x z k c s r t ");
    }
}

}  // namespace
}  // namespace headway::testing
