// ImageDecoder on an image that needs no library; formats are tested beside their decoders.
#include "graph/text.h"
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

Tensor decoded(const Tensor& encoded, const std::string& attributes) {
    const Graph graph =
        parse_graph("graph { input %x: u8[n] %y = ImageDecoder:20(%x) {" + attributes + "} output %y }");
    return interpret(graph, std::vector<Tensor>{encoded}, declared<Op>())[0];
}

Tensor bytes_of(std::string_view text) {
    return Tensor::of<uint8_t>(Shape{static_cast<int64_t>(text.size())},
                               std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

TEST(ImageDecoder, GivesTheChannelsThatAreAskedFor) {
    const Tensor image = bytes_of("P3 2 1 255  255 128 0  7 7 7");
    expect_values(decoded(image, ""), {1, 2, 3}, {255, 128, 0, 7, 7, 7});
    expect_values(decoded(image, "pixel_format=\"RGB\""), {1, 2, 3}, {255, 128, 0, 7, 7, 7});
    expect_values(decoded(image, "pixel_format=\"BGR\""), {1, 2, 3}, {0, 128, 255, 7, 7, 7});
    expect_values(decoded(image, "pixel_format=\"Grayscale\""), {1, 2, 1}, {151, 7});
}

TEST(ImageDecoder, RefusesOtherInputs) {
    EXPECT_THROW(decoded(bytes_of("no image"), ""), UserError);
    EXPECT_THROW(decoded(bytes_of("P3 1 1 255 1 2 3"), "pixel_format=\"CMYK\""), UserError);
    EXPECT_THROW(decoded(bytes_of("P3 1 1 255 1 2 3").reshaped(Shape{4, 4}), ""), UserError);
    EXPECT_THROW(decoded(ramp({16}), ""), UserError);
}

}  // namespace
}  // namespace headway
