#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/text.h"

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

int open_confined(const std::string& folder, const std::string& location) {
    const auto refuse = [&](const std::string& why) {
        throw UserError("cannot read \"" + escaped(location) + "\" in " + (folder.empty() ? "." : folder) + ": " + why);
    };
    int at = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) refuse(std::strerror(errno));
    const std::vector<std::string> parts = split(location, '/');
    for (size_t i = 0; i < parts.size(); ++i) {
        const bool is_last = i + 1 == parts.size();
        if (parts[i].empty() || parts[i] == ".." || parts[i].find('\0') != std::string::npos) {
            ::close(at);
            refuse("not a path inside the folder");
        }
        // O_NONBLOCK: opening a named pipe must not wait for a writer
        const int next =
            ::openat(at, parts[i].c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (is_last ? O_NONBLOCK : O_DIRECTORY));
        const int error = errno;
        ::close(at);
        if (next < 0) refuse(error == ELOOP || error == ENOTDIR ? "links are not followed" : std::strerror(error));
        at = next;
    }
    struct stat info {};
    if (::fstat(at, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) {
        ::close(at);
        refuse("not a regular file with a single name");
    }
    return at;
}

MappedFile::MappedFile(const std::string& path) { map(open_regular(path, size_), path); }

MappedFile::MappedFile(int descriptor, const std::string& name) {
    struct stat info {};
    if (::fstat(descriptor, &info) != 0) {
        const int error = errno;
        ::close(descriptor);
        fail("cannot map", name, error);
    }
    size_ = static_cast<size_t>(info.st_size);
    map(descriptor, name);
}

void MappedFile::map(int descriptor, const std::string& name) {
    if (size_ > 0) {
        void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) {
            const int error = errno;
            ::close(descriptor);
            fail("cannot map", name, error);
        }
        data_ = static_cast<const std::byte*>(data);
    }
    ::close(descriptor);
}

void MappedFile::release(std::span<const std::byte> part) const {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = static_cast<size_t>(part.data() - data_) / page * page;
    const auto end = static_cast<size_t>(part.data() - data_) + part.size();
    // A hint: nothing is lost when the system does not take it.
    if (begin < end) ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace headway
