#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace headway {
namespace {

[[noreturn]] void fail(const std::string& action, const std::string& path, int error) {
    throw UserError(action + " " + path + ": " + std::strerror(error));
}

// Opens a regular file; directories and devices are refused by name.
int open_regular(const std::string& path, size_t& size) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("cannot open", path, errno);
    struct stat info {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(fd);
        throw UserError("cannot read " + path + ": not a regular file");
    }
    size = static_cast<size_t>(info.st_size);
    return fd;
}

}  // namespace

std::string read_file(const std::string& path) {
    size_t size = 0;
    const int fd = open_regular(path, size);
    std::string text(size, '\0');
    size_t done = 0;
    while (done < size) {
        const ssize_t got = ::read(fd, text.data() + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int error = errno;
            ::close(fd);
            fail("cannot read", path, error);
        }
        if (got == 0) break;
        done += static_cast<size_t>(got);
    }
    ::close(fd);
    text.resize(done);
    return text;
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
    std::string temporary = path + ".XXXXXX";
    const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) fail("cannot write", path, errno);
    const auto give_up = [&](int error) {
        ::close(fd);
        ::unlink(temporary.c_str());
        fail("cannot write", path, error);
    };
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) give_up(errno);
        done += static_cast<size_t>(put);
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(fd, 0666 & ~mask) != 0 || ::fsync(fd) != 0) give_up(errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) give_up(errno);
    ::close(fd);
}

void write_file_atomically(const std::string& path, std::string_view text) {
    write_file_atomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

MappedFile::MappedFile(const std::string& path) {
    const int fd = open_regular(path, size_);
    if (size_ > 0) {
        void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            const int error = errno;
            ::close(fd);
            fail("cannot map", path, error);
        }
        data_ = static_cast<const std::byte*>(data);
    }
    ::close(fd);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace headway
