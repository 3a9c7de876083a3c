#include "data/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "tensor/random.h"

namespace headway {
namespace {

Tensor read(const std::string& bytes) {
    const auto owner = std::make_shared<const std::string>(bytes);
    return read_npy(std::as_bytes(std::span(owner->data(), owner->size())), owner);
}

std::string npy_error(const std::string& bytes) {
    try {
        read(bytes);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

// An .npy file as NumPy writes it, of one dictionary and its data.
std::string npy(const std::string& header, const std::string& data) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    return bytes + header + data;
}

TEST(Npy, WritesWhatItReads) {
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::i64,
                                   ElementType::u8, ElementType::boolean, ElementType::u16}) {
        for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0, 3}, Shape{2, 3, 5}}) {
            const Tensor tensor = random_tensor(type, shape, 7);
            const Tensor back = read(write_npy(tensor));
            EXPECT_EQ(back.hash(), tensor.hash()) << to_string(type) << " " << shape.text();
        }
    }
    EXPECT_EQ(write_npy(random_tensor(ElementType::f32, Shape{2}, 1)).size() % 64, 8U);
    EXPECT_THROW(write_npy(random_tensor(ElementType::bf16, Shape{2}, 1)), UserError);
}

TEST(Npy, ReadsWhatNumpyWrites) {
    const Tensor tensor =
        read(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }    \n", std::string("\1\0\xFF\xFF", 4)));
    EXPECT_EQ(tensor.to_int64(), (std::vector<int64_t>{1, -1}));
}

TEST(Npy, SaysWhatIsWrong) {
    const auto with = [](const std::string& descr, const std::string& order, const std::string& shape) {
        return npy_error(
            npy("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}", "1234"));
    };
    EXPECT_EQ(with("'<f4'", "False", "(1,)"), "");
    EXPECT_NE(with("'>f4'", "False", "(1,)").find("element type >f4"), std::string::npos);
    EXPECT_NE(with("[('a', '<f4')]", "False", "(1,)").find("structured"), std::string::npos);
    EXPECT_NE(with("'<f4'", "True", "(1,)").find("Fortran"), std::string::npos);
    EXPECT_NE(with("'<f4'", "False", "(2,)").find("4 bytes of data for shape 2"), std::string::npos);
    EXPECT_NE(with("'<f4'", "False", "(-1,)").find("damaged shape"), std::string::npos);
    EXPECT_NE(with("'<f4'", "False", "(99999999999, 99999999999)").find("too large"), std::string::npos);
    EXPECT_NE(npy_error("PK").find("not a NumPy file"), std::string::npos);
    EXPECT_NE(npy_error(npy("{'descr': '<f4'}", "")).find("incomplete"), std::string::npos);
}

// numpy.savez_compressed(file, x=numpy.arange(64, dtype='u1').reshape(4, 16)): deflated, with a zip64 local header.
constexpr unsigned char numpy_archive[] = {
    0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x1c, 0xba, 0xeb, 0x56, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x01, 0x00, 0x10,
    0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x87, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b, 0xec,
    0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0,
    0x5e, 0x53, 0x6a, 0xa8, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92,
    0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x26, 0x3a,
    0x0a, 0x86, 0x66, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0xe4, 0x02, 0x2e, 0x06, 0x46, 0x26, 0x66, 0x16, 0x56, 0x36, 0x76,
    0x0e, 0x4e, 0x2e, 0x6e, 0x1e, 0x5e, 0x3e, 0x7e, 0x01, 0x41, 0x21, 0x61, 0x11, 0x51, 0x31, 0x71, 0x09, 0x49, 0x29,
    0x69, 0x19, 0x59, 0x39, 0x79, 0x05, 0x45, 0x25, 0x65, 0x15, 0x55, 0x35, 0x75, 0x0d, 0x4d, 0x2d, 0x6d, 0x1d, 0x5d,
    0x3d, 0x7d, 0x03, 0x43, 0x23, 0x63, 0x13, 0x53, 0x33, 0x73, 0x0b, 0x4b, 0x2b, 0x6b, 0x1b, 0x5b, 0x3b, 0x7b, 0x00,
    0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x1c, 0xba, 0xeb,
    0x56, 0x87, 0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0xbe, 0x00, 0x00, 0x00, 0x00, 0x00,
};

class Npz : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }
    std::vector<NamedTensor> read_bytes(const std::string& bytes) {
        std::ofstream(path_, std::ios::binary) << bytes;
        return read_npz(path_);
    }
    std::string path_ = testing::TempDir() + "headway_npz_test-" + std::to_string(::getpid()) + ".npz";
};

TEST_F(Npz, WritesWhatItReads) {
    const std::vector<NamedTensor> tensors = {{"x", random_tensor(ElementType::f32, Shape{2, 3}, 1)},
                                              {"a/b", random_tensor(ElementType::i64, Shape{}, 2)}};
    const std::vector<NamedTensor> back = read_bytes(write_npz(tensors));
    ASSERT_EQ(back.size(), 2U);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(back[i].name, tensors[i].name);
        EXPECT_EQ(back[i].tensor.hash(), tensors[i].tensor.hash());
    }
}

TEST_F(Npz, ReadsDeflatedEntriesOfNumpy) {
    const std::vector<NamedTensor> tensors =
        read_bytes(std::string(reinterpret_cast<const char*>(numpy_archive), sizeof numpy_archive));
    ASSERT_EQ(tensors.size(), 1U);
    EXPECT_EQ(tensors[0].name, "x");
    EXPECT_EQ(tensors[0].tensor.shape(), (Shape{4, 16}));
    EXPECT_EQ(tensors[0].tensor.at(63), 63);
}

TEST_F(Npz, EveryTruncationAndFlippedByteIsAnErrorOrTheSameShape) {
    const std::string bytes =
        write_npz(std::vector<NamedTensor>{{"x", random_tensor(ElementType::f32, Shape{2, 3}, 1)}});
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(read_bytes(bytes.substr(0, size)), UserError) << size;
    for (size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0xFF);
        try {
            read_bytes(damaged);
        } catch (const UserError& error) {
            EXPECT_NE(std::string(error.what()).find(path_), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace headway
