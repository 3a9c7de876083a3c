#include "tensor/tensor_proto.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "tensor/random.h"

namespace headway {
namespace {

NamedTensor read(const std::string& bytes) {
    const auto owner = std::make_shared<const std::string>(bytes);
    return read_tensor_proto(*owner, owner);
}

TEST(TensorProto, WritesWhatItReads) {
    for (const ElementType type :
         {ElementType::f32,        ElementType::f64,      ElementType::f16,        ElementType::bf16,
          ElementType::i8,         ElementType::u8,       ElementType::i16,        ElementType::u16,
          ElementType::i32,        ElementType::u32,      ElementType::i64,        ElementType::u64,
          ElementType::boolean,    ElementType::f8e4m3fn, ElementType::f8e4m3fnuz, ElementType::f8e5m2,
          ElementType::f8e5m2fnuz, ElementType::u4,       ElementType::i4,         ElementType::f4e2m1,
          ElementType::f8e8m0,     ElementType::u2,       ElementType::i2}) {
        for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 0, 2}, Shape{2, 3, 5}}) {
            const Tensor tensor = random_tensor(type, shape, 5);
            const NamedTensor back = read(write_tensor_proto(tensor, "name"));
            EXPECT_EQ(back.name, "name");
            EXPECT_EQ(back.tensor.hash(), tensor.hash()) << to_string(type) << " " << shape.text();
        }
    }
}

TEST(TensorProto, ReadsEveryTypedField) {
    const auto tensor = [](ElementType type, auto&& write) {
        std::string bytes;
        protozero::pbf_writer writer(bytes);
        writer.add_int64(1, 2);
        writer.add_int32(2, static_cast<int32_t>(type));
        write(writer);
        return read(bytes).tensor;
    };
    const std::vector<float> floats = {1.5F, -2};
    EXPECT_EQ(tensor(ElementType::f32, [&](auto& w) { w.add_packed_float(4, floats.begin(), floats.end()); }).at(1),
              -2);
    EXPECT_EQ(tensor(ElementType::f32, [&](auto& w) { w.add_float(4, 1), w.add_float(4, 2); }).at(1), 2);
    EXPECT_EQ(tensor(ElementType::f64, [&](auto& w) { w.add_double(10, 1), w.add_double(10, 0.1); }).at(1), 0.1);
    EXPECT_EQ(tensor(ElementType::i64, [&](auto& w) { w.add_int64(7, -1), w.add_int64(7, INT64_MIN); }).at(0), -1);
    EXPECT_EQ(tensor(ElementType::u64, [&](auto& w) { w.add_uint64(11, 1), w.add_uint64(11, UINT64_MAX); })
                  .data<uint64_t>()[1],
              UINT64_MAX);
    EXPECT_EQ(tensor(ElementType::u32, [&](auto& w) { w.add_uint64(11, 1), w.add_uint64(11, UINT32_MAX); }).at(1),
              UINT32_MAX);
    EXPECT_EQ(tensor(ElementType::f16, [&](auto& w) { w.add_int32(5, 0x3C00), w.add_int32(5, 0xC000); }).at(1), -2);
    EXPECT_EQ(tensor(ElementType::i16, [&](auto& w) { w.add_int32(5, -5), w.add_int32(5, 32767); }).at(0), -5);
    EXPECT_EQ(tensor(ElementType::f8e4m3fn, [&](auto& w) { w.add_int32(5, 0x38), w.add_int32(5, 0xFE); }).at(1), -448);
    EXPECT_EQ(tensor(ElementType::i4, [&](auto& w) { w.add_int32(5, 0x8F); }).to_int64(),
              (std::vector<int64_t>{-1, -8}));
    EXPECT_EQ(tensor(ElementType::f4e2m1, [&](auto& w) { w.add_int32(5, 0x97); }).at(1), -0.5);
    EXPECT_EQ(tensor(ElementType::u2, [&](auto& w) { w.add_int32(5, 0x0E); }).to_int64(), (std::vector<int64_t>{2, 3}));
    EXPECT_THROW(tensor(ElementType::i4, [&](auto& w) { w.add_int32(5, 1), w.add_int32(5, 1); }), UserError);
    EXPECT_THROW(tensor(ElementType::u4, [&](auto& w) { w.add_int32(5, 256); }), UserError);
    EXPECT_THROW(tensor(ElementType::i4, [&](auto& w) { w.add_bytes(9, "ab"); }), UserError);
    EXPECT_EQ(tensor(ElementType::i4, [&](auto& w) { w.add_bytes(9, "\x21"); }).at(1), 2);
    EXPECT_THROW(tensor(ElementType::u16, [&](auto& w) { w.add_int32(5, -5), w.add_int32(5, 1); }), UserError);
    EXPECT_THROW(tensor(ElementType::boolean, [&](auto& w) { w.add_int32(5, 2), w.add_int32(5, 1); }), UserError);
    EXPECT_THROW(tensor(ElementType::f32, [&](auto& w) { w.add_int32(5, 2), w.add_int32(5, 1); }), UserError);
    EXPECT_THROW(tensor(ElementType::string, [](auto&) {}), UserError);
}

TEST(TensorProto, EveryTruncationIsAnError) {
    const std::string bytes = write_tensor_proto(random_tensor(ElementType::f32, Shape{2, 3}, 1), "x");
    for (size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(read(bytes.substr(0, size)), UserError) << size;
}

TEST(TensorProto, ExternalDataNeedSomeoneWhoAllowsThem) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_int32(2, 1);
    writer.add_int32(14, 1);
    EXPECT_THROW(read(bytes), UserError);
}

std::string strings_message(const Shape& shape, const std::vector<std::string>& values) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_packed_int64(1, shape.begin(), shape.end());
    writer.add_int32(2, 8);
    for (const std::string& value : values) writer.add_bytes(6, value);
    return bytes;
}

TEST(TensorProto, ReadsStrings) {
    const std::vector<std::string> values{"a", "", std::string("\0\xff", 2), "bb"};
    const TensorValues read = read_tensor_values_proto(strings_message({2, 2}, values), nullptr).values;
    EXPECT_EQ(std::get<Strings>(read).shape.text(), "2x2");
    EXPECT_EQ(std::get<Strings>(read).values, values);
    EXPECT_THROW(read_tensor_proto(strings_message({1}, {"a"}), nullptr), Unsupported) << "only numbers are wanted";
}

TEST(TensorProto, WritesTheStringsThatItReads) {
    for (const Strings& strings : {Strings{Shape{}, {"x"}}, Strings{Shape{2, 0}, {}}, Strings{Shape{2}, {"", "\n"}}}) {
        const NamedValues back = read_tensor_values_proto(write_tensor_proto(strings, "name"), nullptr);
        EXPECT_EQ(back.name, "name");
        EXPECT_EQ(std::get<Strings>(back.values), strings);
    }
}

TEST(TensorProto, RefusesStringsThatDoNotFit) {
    const auto refused = [](const std::string& bytes) {
        EXPECT_THROW(read_tensor_values_proto(bytes, nullptr), UserError);
    };
    refused(strings_message({3}, {"a", "b"}));
    refused(strings_message({int64_t{1} << 40}, {"a"}));
    refused(strings_message({int64_t{1} << 40, int64_t{1} << 40}, {}));
    refused(strings_message({-1}, {}));
    std::string raw = strings_message({1}, {"a"});
    protozero::pbf_writer(raw).add_bytes(9, "a");
    refused(raw);
    std::string mixed = strings_message({1}, {});
    protozero::pbf_writer(mixed).add_float(4, 1);
    refused(mixed);
    std::string numbers = write_tensor_proto(Tensor::scalar(1.0F), "");
    protozero::pbf_writer(numbers).add_bytes(6, "a");
    refused(numbers);
}

}  // namespace
}  // namespace headway
