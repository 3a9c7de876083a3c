#include "tensor/datum.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "tensor/tensor_proto.h"

namespace headway {
namespace {

using protozero::pbf_writer;

std::string sequence_message(const std::vector<Tensor>& tensors, int kind = 1) {
    std::string bytes;
    pbf_writer writer(bytes);
    writer.add_string(1, "s");
    writer.add_int32(2, kind);
    for (const Tensor& tensor : tensors) writer.add_message(3, write_tensor_proto(tensor, ""));
    return bytes;
}

TEST(Datum, ReadsSequences) {
    const std::string bytes = sequence_message({Tensor::scalar(2.0F), Tensor::scalar(3.0F)});
    const Sequence sequence = read_sequence_proto(bytes, nullptr);
    EXPECT_EQ(sequence.type, ElementType::f32);
    ASSERT_EQ(sequence.tensors.size(), 2U);
    EXPECT_EQ(std::get<Tensor>(sequence.tensors[1]).at(0), 3);
    EXPECT_TRUE(read_sequence_proto(sequence_message({}, 0), nullptr).tensors.empty());
}

TEST(Datum, RefusesMixedTypesAndOtherElements) {
    const std::string mixed = sequence_message({Tensor::scalar(2.0F), Tensor::scalar(int64_t{3})});
    EXPECT_THROW(read_sequence_proto(mixed, nullptr), UserError);
    EXPECT_THROW(read_sequence_proto(sequence_message({}, 3), nullptr), Unsupported);
    EXPECT_THROW(read_sequence_proto(mixed.substr(0, mixed.size() - 1), nullptr), UserError);
}

TEST(Datum, ReadsOptionals) {
    std::string bytes;
    EXPECT_TRUE(std::holds_alternative<Absent>(read_optional_proto(bytes, nullptr)));
    pbf_writer(bytes).add_message(5, sequence_message({Tensor::scalar(2.0F)}));
    const Datum sequence = read_optional_proto(bytes, nullptr);
    EXPECT_EQ(kind_of(sequence), "a sequence");
    std::string tensor;
    pbf_writer(tensor).add_message(3, write_tensor_proto(Tensor::scalar(2.0F), ""));
    EXPECT_EQ(kind_of(read_optional_proto(tensor, nullptr)), "a tensor");
}

TEST(Datum, ReadsTensorsOfNumbersAndOfStrings) {
    EXPECT_EQ(kind_of(read_tensor_datum(write_tensor_proto(Tensor::scalar(2.0F), ""), nullptr)), "a tensor");
    const std::string message = write_tensor_proto(Strings{Shape{1}, {"a"}}, "");
    EXPECT_EQ(kind_of(read_tensor_datum(message, nullptr)), "a tensor of strings");
    std::string optional;
    pbf_writer(optional).add_message(3, message);
    EXPECT_EQ(std::get<Strings>(read_optional_proto(optional, nullptr)).values[0], "a");
    std::string sequence;
    pbf_writer(sequence).add_message(3, message);
    const Sequence read = read_sequence_proto(sequence, nullptr);
    EXPECT_EQ(read.type, ElementType::string);
    EXPECT_EQ(std::get<Strings>(read.tensors.at(0)).values[0], "a");
    pbf_writer(sequence).add_message(3, write_tensor_proto(Tensor::scalar(2.0F), ""));
    EXPECT_THROW(read_sequence_proto(sequence, nullptr), UserError) << "strings and numbers";
}

}  // namespace
}  // namespace headway
