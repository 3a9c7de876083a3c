#include "tuner/log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace headway {
namespace {

std::string log_path(const std::string& folder) { return folder + "/log.jsonl"; }

// Complete lines only.
std::vector<std::string> complete_lines(const std::string& text) {
    std::vector<std::string> lines = split(text, '\n');
    lines.pop_back();
    return lines;
}

}  // namespace

StudyLog::StudyLog(const std::string& folder) : path_(log_path(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw UserError("cannot create the study folder " + folder + ": " + error.message());
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) throw UserError("cannot write " + path_ + ": " + std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
        ::close(file_);
        throw UserError("the study " + folder + " is in use by another headway tune");
    }
    drop_torn_line();
}

StudyLog::~StudyLog() { ::close(file_); }

void StudyLog::drop_torn_line() {
    const std::string text = read_file(path_);
    const size_t complete = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    if (complete < text.size() && ::ftruncate(file_, static_cast<off_t>(complete)) != 0)
        throw UserError("cannot repair " + path_ + ": " + std::strerror(errno));
    lines_ = complete_lines(text.substr(0, complete));
}

void StudyLog::append(const nlohmann::json& line) {
    const off_t before = ::lseek(file_, 0, SEEK_END);
    const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    size_t done = 0;
    int error = 0;
    while (done < text.size() && error == 0) {
        const ssize_t put = ::write(file_, text.data() + done, text.size() - done);
        if (put >= 0)
            done += static_cast<size_t>(put);
        else if (errno != EINTR)
            error = errno;
    }
    if (error == 0 && ::fdatasync(file_) != 0) error = errno;
    if (error == 0) return;
    if (::ftruncate(file_, before) != 0) error = errno;
    throw UserError("cannot write " + path_ + ": " + std::strerror(error));
}

std::vector<std::string> StudyLog::read(const std::string& folder) {
    const std::string path = log_path(folder);
    if (!std::filesystem::exists(path)) throw UserError("no study in " + folder + ": there is no log.jsonl");
    return complete_lines(read_file(path));
}

}  // namespace headway
