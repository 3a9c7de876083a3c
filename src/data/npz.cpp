#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "data/npy.h"

namespace headway {
namespace {

constexpr uint32_t local_signature = 0x04034b50;
constexpr uint32_t central_signature = 0x02014b50;
constexpr uint32_t end_signature = 0x06054b50;
constexpr size_t local_size = 30, central_size = 46, end_size = 22;
constexpr size_t longest_comment = 65535;
// Deflate cannot shrink below 1:1032; whatever claims more is damaged and is refused before memory is asked for.
constexpr uint64_t most_expansion = 1032;

[[noreturn]] void damaged(const char* what) { throw UserError(std::string(".npz: ") + what); }

class Archive {
public:
    explicit Archive(const std::string& path)
        : file_(std::make_shared<const MappedFile>(path)), bytes_(file_->bytes()) {}

    std::vector<NamedTensor> read() const {
        const size_t end = find_end();
        const size_t count = number(end + 10, 2);
        size_t at = number(end + 16, 4);
        if (count == 0xFFFF || at == 0xFFFFFFFF) damaged("archives of the zip64 form are not handled");
        std::vector<NamedTensor> tensors;
        for (size_t i = 0; i < count; ++i) at = read_entry(at, tensors);
        return tensors;
    }

private:
    uint64_t number(size_t at, size_t size) const {
        if (at > bytes_.size() || size > bytes_.size() - at) damaged("the archive is truncated");
        uint64_t value = 0;
        for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(bytes_[at + i]) << (8 * i);
        return value;
    }

    std::span<const std::byte> slice(size_t at, size_t size) const {
        if (at > bytes_.size() || size > bytes_.size() - at) damaged("the archive is truncated");
        return bytes_.subspan(at, size);
    }

    size_t find_end() const {
        if (bytes_.size() < end_size) damaged("not a zip archive");
        const size_t last = bytes_.size() - end_size;
        for (size_t back = 0; back <= std::min(last, longest_comment); ++back)
            if (number(last - back, 4) == end_signature) return last - back;
        damaged("not a zip archive");
    }

    // Reads the entry whose directory record is at `at`; returns where the next record begins.
    size_t read_entry(size_t at, std::vector<NamedTensor>& tensors) const {
        if (number(at, 4) != central_signature) damaged("damaged directory");
        const uint64_t flags = number(at + 8, 2), method = number(at + 10, 2);
        const auto checksum = static_cast<uint32_t>(number(at + 16, 4));
        const uint64_t packed = number(at + 20, 4), size = number(at + 24, 4), local = number(at + 42, 4);
        const size_t name_size = number(at + 28, 2);
        const std::span<const std::byte> name_bytes = slice(at + central_size, name_size);
        std::string name(reinterpret_cast<const char*>(name_bytes.data()), name_size);
        const size_t next = at + central_size + name_size + number(at + 30, 2) + number(at + 32, 2);
        if (name.ends_with('/')) return next;
        try {
            if ((flags & 1) != 0) damaged("encrypted entries are not handled");
            if (packed == 0xFFFFFFFF || size == 0xFFFFFFFF || local == 0xFFFFFFFF)
                damaged("archives of the zip64 form are not handled");
            if (number(local, 4) != local_signature) damaged("damaged entry");
            const std::span<const std::byte> data =
                slice(local + local_size + number(local + 26, 2) + number(local + 28, 2), packed);
            Tensor tensor =
                method == 0 ? read_stored(data, size, checksum) : read_deflated(method, data, size, checksum);
            if (name.ends_with(".npy")) name.resize(name.size() - 4);
            const bool is_known =
                std::ranges::any_of(tensors, [&](const NamedTensor& other) { return other.name == name; });
            if (is_known) damaged("two entries of one name");
            tensors.push_back({std::move(name), std::move(tensor)});
        } catch (const UserError& error) {
            throw UserError("\"" + escaped(name) + "\": " + error.what());
        }
        return next;
    }

    static void check_sum(std::span<const std::byte> data, uint32_t checksum) {
        if (crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()) != checksum)
            damaged("the checksum does not match");
    }

    Tensor read_stored(std::span<const std::byte> data, uint64_t size, uint32_t checksum) const {
        if (data.size() != size) damaged("damaged entry");
        check_sum(data, checksum);
        return read_npy(data, file_);
    }

    static Tensor read_deflated(uint64_t method, std::span<const std::byte> data, uint64_t size, uint32_t checksum) {
        if (method != 8) damaged("this compression method is not handled");
        if (size / most_expansion > data.size()) damaged("damaged entry");
        const auto inflated = std::make_shared<Inflated>(size);
        std::vector<std::byte>* memory = &inflated->bytes;
        z_stream stream{};
        if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InternalError("zlib does not start");
        stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));
        stream.avail_in = static_cast<uInt>(data.size());
        stream.next_out = reinterpret_cast<Bytef*>(memory->data());
        stream.avail_out = static_cast<uInt>(size);
        const int result = inflate(&stream, Z_FINISH);
        const uint64_t got = stream.total_out;
        inflateEnd(&stream);
        if (result != Z_STREAM_END || got != size) damaged("damaged compressed data");
        check_sum(*memory, checksum);
        return read_npy(*memory, inflated);
    }

    // Entries may share their compressed bytes: together they grow without an end in a short file.
    struct Inflated {
        explicit Inflated(uint64_t size) : claim(static_cast<int64_t>(size)), bytes(size) {}
        MemoryClaim claim;
        std::vector<std::byte> bytes;
    };

    std::shared_ptr<const MappedFile> file_;
    std::span<const std::byte> bytes_;
};

void put(std::string& bytes, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value & 0xFF);
}

// What the local header and the directory record share, from "version needed" to "extra length".
void put_common(std::string& bytes, std::string_view name, std::string_view content) {
    constexpr uint64_t first_day_of_1980 = 0x21;  // a fixed date: same content, same bytes
    put(bytes, 20, 2);
    put(bytes, 0, 2);
    put(bytes, 0, 2);
    put(bytes, 0, 2);
    put(bytes, first_day_of_1980, 2);
    put(bytes, crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()), 4);
    put(bytes, content.size(), 4);
    put(bytes, content.size(), 4);
    put(bytes, name.size(), 2);
    put(bytes, 0, 2);
}

}  // namespace

std::vector<NamedTensor> read_npz(const std::string& path) {
    try {
        return Archive(path).read();
    } catch (const UserError& error) {
        const std::string text = error.what();
        throw UserError(text.find(path) != std::string::npos ? text : path + ": " + text);
    }
}

std::string write_npz(std::span<const NamedTensor> tensors) {
    std::string bytes, directory;
    for (const NamedTensor& entry : tensors) {
        const std::string name = entry.name + ".npy", content = write_npy(entry.tensor);
        const size_t offset = bytes.size();
        if (name.size() > 0xFFFF || offset + content.size() > std::numeric_limits<uint32_t>::max() - 1 ||
            tensors.size() > 0xFFFE)
            throw UserError("too much data for one .npz file");
        put(bytes, local_signature, 4);
        put_common(bytes, name, content);
        bytes += name + content;
        put(directory, central_signature, 4);
        put(directory, 20, 2);
        put_common(directory, name, content);
        put(directory, 0, 2 + 2 + 2 + 4);  // comment length, disk, attributes
        put(directory, offset, 4);
        directory += name;
    }
    const size_t start = bytes.size();
    bytes += directory;
    put(bytes, end_signature, 4);
    put(bytes, 0, 4);
    put(bytes, tensors.size(), 2);
    put(bytes, tensors.size(), 2);
    put(bytes, directory.size(), 4);
    put(bytes, start, 4);
    put(bytes, 0, 2);
    return bytes;
}

}  // namespace headway
