// File: prologue (magic, version, content length, section table, checksum of these), then the sections, each starting
// on a multiple of 64 bytes with zeros between, then nothing or one certificate block. Every byte is under a checksum
// or must be zero, so no change goes unseen.
#include "runtime/engine_file.h"

#include <fstream>
#include <array>
#include <cstring>

#include "base/checked.h"
#include "base/file.h"
#include "runtime/plan_fields.h"

namespace headway {
namespace {

constexpr std::string_view magic =
    "\x89HWE\r\n\x1a\n";  // as PNG's: shows transfers that changed line ends or cut bit 7
constexpr std::string_view certificate_magic = "HWCERT\n\x1a";
constexpr int64_t alignment = 64;

enum Section { header, plan, constants, ledger, staged, section_count };
constexpr std::array<const char*, section_count> section_names{"header", "plan", "constants", "ledger", "staged"};

struct SectionEntry {
    uint64_t offset = 0, length = 0;
    Hash checksum;
};

template <class A, Of<SectionEntry> T>
void fields(A& a, T& entry) {
    a("offset", entry.offset);
    a("length", entry.length);
    a("checksum", entry.checksum);
}

struct Prologue {
    int version = engine_file_version;
    uint64_t content_bytes = 0;
    std::array<SectionEntry, section_count> sections;

    size_t section_total() const { return version == staged_file_version ? section_count : staged; }
    size_t fields_bytes() const { return 8 + section_total() * 32; }
    size_t bytes() const { return prologue_at + fields_bytes() + 16; }
    static constexpr size_t version_at = 8, prologue_at = 12;
};

template <class A, Of<Prologue> T>
void fields(A& a, T& prologue) {
    a("content_bytes", prologue.content_bytes);
    for (size_t i = 0; i < prologue.section_total(); ++i) a(section_names[i], prologue.sections[i]);
}

// A constant in the plan section: its bytes lie in the constants section.
struct ConstantEntry {
    TensorDesc desc;
    ElementType type = ElementType::undefined;
    Shape shape;
    uint64_t offset = 0, length = 0;
    Hash hash;
};

template <class A, Of<ConstantEntry> T>
void fields(A& a, T& entry) {
    a("desc", entry.desc);
    a("type", entry.type);
    a("shape", entry.shape);
    a("offset", entry.offset);
    a("length", entry.length);
    a("hash", entry.hash);
}

struct PlanRecord {
    std::vector<Buffer> buffers;
    std::vector<ConstantEntry> constants;
    std::vector<Step> steps;
    std::vector<Port> inputs, outputs;
    int64_t arena_bytes = 0;
    Settings settings;
};

template <class A, Of<PlanRecord> T>
void fields(A& a, T& record) {
    a("buffers", record.buffers);
    a("constants", record.constants);
    a("steps", record.steps);
    a("inputs", record.inputs);
    a("outputs", record.outputs);
    a("arena_bytes", record.arena_bytes);
    a("settings", record.settings);
}

struct HeaderRecord {
    std::string builder, builder_version, model_name, route, target;
    Hash model, fingerprint;
};

template <class A, Of<HeaderRecord> T>
void fields(A& a, T& record) {
    a("builder", record.builder);
    a("builder_version", record.builder_version);
    a("model", record.model);
    a("model_name", record.model_name);
    a("route", record.route);
    a("target", record.target);
    a("fingerprint", record.fingerprint);
}

template <class T>
std::string packed(const T& record) {
    Writer writer;
    fields(writer, record);
    return writer.bytes();
}

void pad(std::string& bytes) {
    bytes.resize(static_cast<size_t>(round_up(static_cast<int64_t>(bytes.size()), alignment)));
}

std::string certificate_block(const std::string& json) {
    if (json.empty()) return {};
    Writer writer;
    writer.raw(certificate_magic.data(), certificate_magic.size());
    writer("length", static_cast<uint64_t>(json.size()));
    writer("checksum", hash_text(json));
    writer.raw(json.data(), json.size());
    return writer.bytes();
}

// `constants_end` becomes the size of the section with the constants, whose offsets the record holds.
PlanRecord record_of(const Plan& plan, int64_t& constants_end) {
    PlanRecord record{plan.buffers, {}, plan.steps, plan.inputs, plan.outputs, plan.arena_bytes, plan.settings};
    for (const Constant& constant : plan.constants) {
        constants_end = round_up(constants_end, alignment);
        const size_t size = constant.bytes.bytes().size();
        record.constants.push_back({constant.desc, constant.bytes.type(), constant.bytes.shape(),
                                    static_cast<uint64_t>(constants_end), size, constant.hash});
        constants_end += static_cast<int64_t>(size);
    }
    return record;
}

// At the offsets that record_of gives; the section begins aligned.
void append_constants(const Plan& plan, std::string& body) {
    for (const Constant& constant : plan.constants) {
        pad(body);
        const auto bytes = constant.bytes.bytes();
        body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
}

// Everything before the certificate.
std::string content(const Plan& source, const EngineInfo& info, const std::optional<StagedPart>& part) {
    std::array<std::string, section_count> parts;  // that of the constants, which may be large, is never apart
    int64_t constants_size = 0;
    parts[plan] = packed(record_of(source, constants_size));
    parts[header] = packed(HeaderRecord{info.builder, info.builder_version, info.model_name, info.route, info.target,
                                        info.model, part ? staged_fingerprint(source, *part) : source.fingerprint()});
    parts[ledger] = info.ledger;
    if (part) parts[staged] = packed(*part);

    Prologue prologue;
    if (part) prologue.version = staged_file_version;
    std::string body(prologue.bytes(), '\0');
    size_t room = body.size() + static_cast<size_t>(constants_size) + info.certificate.size();
    for (const std::string& bytes : parts) room += bytes.size() + alignment;
    body.reserve(room + 2 * alignment);
    for (size_t i = 0; i < prologue.section_total(); ++i) {
        pad(body);
        const size_t begin = body.size();
        if (i == constants)
            append_constants(source, body);
        else
            body += parts[i];
        const std::string_view section = std::string_view(body).substr(begin);
        prologue.sections[i] = {begin, section.size(), hash_text(section)};
    }
    pad(body);
    prologue.content_bytes = body.size();

    Writer start;
    start.raw(magic.data(), magic.size());
    start("version", static_cast<uint32_t>(prologue.version));
    start("prologue", prologue);
    start("checksum", hash_text(start.bytes()));
    HEADWAY_CHECK(start.bytes().size() == prologue.bytes());
    body.replace(0, prologue.bytes(), start.bytes());
    return body;
}

using Bytes = std::span<const std::byte>;

bool starts_with(Bytes bytes, std::string_view text) {
    return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// The file as sections of checked bytes.
class SectionReader {
public:
    SectionReader(const std::string& path, Bytes file) : path_(path), file_(file) {
        read_prologue();
        uint64_t end = prologue_.bytes();
        for (size_t i = 0; i < prologue_.section_total(); ++i) end = check_section(i, end);
        check_padding(end, prologue_.content_bytes);
    }

    Bytes section(Section which) const {
        const SectionEntry& entry = prologue_.sections[which];
        return file_.subspan(entry.offset, entry.length);
    }
    bool is_staged() const { return prologue_.version == staged_file_version; }
    Bytes content() const { return file_.first(prologue_.content_bytes); }
    template <class T>
    T record(Section which) const {
        Reader reader(path_ + ": " + section_names[which], section(which));
        T record;
        fields(reader, record);
        reader.expect_end();
        return record;
    }
    std::string certificate() const {
        const Bytes block = file_.subspan(prologue_.content_bytes);
        if (block.empty()) return {};
        if (!starts_with(block, certificate_magic)) fail("certificate", "is not a certificate");
        Reader reader(path_ + ": certificate", block.subspan(certificate_magic.size()));
        uint64_t length = 0;
        Hash checksum;
        reader("length", length);
        reader("checksum", checksum);
        const Bytes json = reader.raw(length);
        reader.expect_end();
        if (hash_bytes(json.data(), json.size()) != checksum) fail("certificate", "does not match its checksum");
        return text(json);
    }
    static std::string text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

    [[noreturn]] void fail(const std::string& section, const std::string& what) const {
        throw UserError(path_ + ": " + section + " " + what);
    }

private:
    void read_prologue() {
        if (!starts_with(file_, magic)) throw UserError(path_ + " is not a Headway engine file");
        if (file_.size() < Prologue().bytes()) throw UserError(path_ + " ends within its first section");
        uint32_t version = 0;
        std::memcpy(&version, file_.data() + Prologue::version_at, sizeof version);
        if (version != engine_file_version && version != staged_file_version)
            throw UserError(path_ + " has engine file version " + std::to_string(version) +
                            ", this program reads versions " + std::to_string(engine_file_version) + " and " +
                            std::to_string(staged_file_version) + ": build the engine again");
        prologue_.version = static_cast<int>(version);
        const size_t prologue_bytes = prologue_.bytes();
        if (file_.size() < prologue_bytes) throw UserError(path_ + " ends within its first section");
        Hash checksum;
        Reader tail(path_ + ": prologue", file_.subspan(prologue_bytes - 16, 16));
        tail("checksum", checksum);
        if (hash_bytes(file_.data(), prologue_bytes - 16) != checksum) fail("prologue", "does not match its checksum");
        Reader reader(path_ + ": prologue", file_.subspan(Prologue::prologue_at, prologue_.fields_bytes()));
        reader("fields", prologue_);
        if (prologue_.content_bytes > file_.size())
            fail("prologue", "says the file has at least " + std::to_string(prologue_.content_bytes) +
                                 " bytes, it has " + std::to_string(file_.size()));
    }

    // Returns the end of the section. Sections stand in order, so that none overlap.
    uint64_t check_section(size_t index, uint64_t previous_end) const {
        const SectionEntry& entry = prologue_.sections[index];
        const std::string name = section_names[index];
        if (entry.offset % alignment != 0 || entry.offset < previous_end || entry.offset > prologue_.content_bytes ||
            entry.length > prologue_.content_bytes - entry.offset)
            fail(name, "lies outside the file");
        check_padding(previous_end, entry.offset);
        if (hash_bytes(file_.data() + entry.offset, entry.length) != entry.checksum)
            fail(name, "does not match its checksum");
        return entry.offset + entry.length;
    }

    void check_padding(uint64_t begin, uint64_t end) const {
        if (end - begin >= alignment) fail("padding", "is longer than it can be");
        for (uint64_t at = begin; at < end; ++at)
            if (file_[at] != std::byte{0}) fail("padding", "at byte " + std::to_string(at) + " is not zero");
    }

    const std::string& path_;
    Bytes file_;
    Prologue prologue_;
};

Constant constant_of(const ConstantEntry& entry, size_t index, const SectionReader& sections,
                     const std::shared_ptr<const void>& owner) {
    const Bytes all = sections.section(constants);
    const std::string name = "constants: constant " + std::to_string(index);
    if (entry.offset % alignment != 0 || entry.offset > all.size() || entry.length > all.size() - entry.offset)
        sections.fail(name, "lies outside the section");
    if (static_cast<uint64_t>(TensorDesc{entry.type, entry.shape}.bytes()) != entry.length)
        sections.fail(name, "does not have the bytes of its shape");
    return {entry.desc, Tensor(entry.type, entry.shape, all.subspan(entry.offset, entry.length), owner), entry.hash};
}

}  // namespace

void write_engine_file(const std::string& path, const Plan& plan, const EngineInfo& info,
                       const std::optional<StagedPart>& staged) {
    write_file_atomically(path, content(plan, info, staged) + certificate_block(info.certificate));
}

Hash staged_fingerprint(const Plan& plan, const StagedPart& staged) {
    return Hasher().add(plan.fingerprint()).add(packed(staged)).finish();
}

Hash EngineFile::fingerprint() const { return staged ? staged_fingerprint(plan, *staged) : plan.fingerprint(); }

EngineFile read_engine_file(const std::string& path) {
    const auto file = std::make_shared<const MappedFile>(path);
    EngineFile result = read_engine_bytes(path, file->bytes(), file);
    result.map = file;
    file->release(file->bytes());  // the checksums have touched every page
    return result;
}

EngineFile read_engine_bytes(const std::string& name, std::span<const std::byte> bytes,
                             std::shared_ptr<const void> owner) {
    const SectionReader sections(name, bytes);
    auto head = sections.record<HeaderRecord>(header);
    auto record = sections.record<PlanRecord>(plan);

    EngineFile result;
    Plan& out = result.plan;
    for (size_t i = 0; i < record.constants.size(); ++i)
        out.constants.push_back(constant_of(record.constants[i], i, sections, owner));
    out.buffers = std::move(record.buffers);
    out.steps = std::move(record.steps);
    out.inputs = std::move(record.inputs);
    out.outputs = std::move(record.outputs);
    out.arena_bytes = record.arena_bytes;
    out.settings = record.settings;
    try {
        check_plan(out);
    } catch (const UserError& error) {
        throw UserError(name + ": " + error.what());
    }
    if (sections.is_staged()) result.staged = sections.record<StagedPart>(staged);
    if (result.fingerprint() != head.fingerprint)
        sections.fail("header: fingerprint", "is not that of the plan, " + result.fingerprint().hex());
    result.info = {std::move(head.builder),
                   std::move(head.builder_version),
                   head.model,
                   std::move(head.model_name),
                   std::move(head.route),
                   std::move(head.target),
                   SectionReader::text(sections.section(ledger)),
                   sections.certificate()};
    return result;
}

void set_certificate(const std::string& path, const std::string& json) {
    const MappedFile file(path);
    const SectionReader sections(path, file.bytes());
    write_file_atomically(path, SectionReader::text(sections.content()) + certificate_block(json));
}

bool begins_as_engine_file(const std::string& path) {
    char begin[magic.size()] = {};
    std::ifstream(path, std::ios::binary).read(begin, sizeof begin);
    return std::string_view(begin, sizeof begin) == magic;
}

bool begins_as_staged_file(const std::string& path) {
    char begin[magic.size() + sizeof(uint32_t)] = {};
    std::ifstream(path, std::ios::binary).read(begin, sizeof begin);
    uint32_t version = 0;
    std::memcpy(&version, begin + Prologue::version_at, sizeof version);
    return std::string_view(begin, magic.size()) == magic && version == staged_file_version;
}

}  // namespace headway
