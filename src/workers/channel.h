// A child's end of a conversation by lines: what were its standard input and output, kept from everything else in the
// process. Afterwards standard input is empty and standard output is standard error, so that a library that prints
// cannot break the conversation.
#pragma once

#include <string>

namespace headway {

class Channel {
public:
    Channel();
    // False at the end of the input.
    bool read_line(std::string& line);
    // False when nobody reads any more.
    bool write_line(std::string line);

private:
    int in_, out_;
    std::string buffer_;
};

}  // namespace headway
