// The benchmark models end to end: the default engine of every profile against reference outputs of another runtime
// with its optimisations off. Needs the models and data that tools/test makes (for the extra ones: fetch.py and
// make_inputs.py in tools/models with --tier extra); skipped, saying so, without them.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "kernels/target.h"
#include "onnx/import.h"
#include "ops/op.h"
#include "tensor/compare.h"
#include "tensor/tensor_proto.h"
#include "workers/builder.h"

namespace headway {
namespace {

// fp32 engines may sum in another order and use Winograd; the recognisers' softmax is the most sensitive output.
constexpr double most_rel_l2 = 1e-4;
// Products of operands with eight bits through whole models: a wrong kernel is off by a hundred percent.
constexpr double most_rel_l2_in_bf16 = 0.1;

struct Case {
    std::string model, profile;
    int threads;
    std::optional<double> rounding;  // see models.json; nothing: no comparison
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.model << " " << c.profile << " " << c.threads << " threads";
}

std::optional<double> rounding_of(const nlohmann::json& model) {
    if (!model.contains("rounding")) return 0;
    const nlohmann::json& value = model.at("rounding");
    return value.is_null() ? std::nullopt : std::optional<double>(value.get<double>());
}

std::vector<Case> cases(const std::string& tier, const std::vector<int>& thread_counts) {
    std::vector<Case> list;
    const nlohmann::json table = nlohmann::json::parse(read_file(HEADWAY_MODEL_TABLE));
    for (const auto& model : table.at("models")) {
        if (model.at("tier") != tier) continue;
        for (const auto& profile : model.at("profiles"))
            for (int threads : thread_counts)
                list.push_back({model.at("id"), profile.at("name"), threads, rounding_of(model)});
    }
    return list;
}

std::vector<Case> first_profiles(const std::string& tier) {
    std::vector<Case> list;
    for (const Case& c : cases(tier, {1}))
        if (list.empty() || list.back().model != c.model) list.push_back(c);
    return list;
}

std::string model_path(const Case& c) { return std::string(HEADWAY_MODELS) + "/" + c.model + ".onnx"; }
std::string data_path(const Case& c) { return std::string(HEADWAY_DATA) + "/" + c.model + "/" + c.profile; }

Tensor read_tensor(const std::string& path) {
    const auto file = std::make_shared<const std::string>(read_file(path));
    return read_tensor_proto(*file, file).tensor;
}

class Models : public ::testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        model_ = model_path(GetParam());
        data_ = data_path(GetParam());
        if (!std::filesystem::exists(model_) || !std::filesystem::exists(data_))
            GTEST_SKIP() << "no " << model_ << " or no " << data_ << ": tools/test fetches models and makes data";
        work_ = std::filesystem::temp_directory_path() / ("headway-models-" + std::to_string(getpid()));
        std::filesystem::create_directories(work_);
        OpenRequest request;
        request.model = model_;
        request.threads = GetParam().threads;
        request.timing_data = data_ + "/tuning/test_data_set_0";
        builder_ = declared<BuilderKind>().find("native")->make();
        builder_->open(request);
    }
    void TearDown() override {
        if (!work_.empty()) std::filesystem::remove_all(work_);
    }

    static std::string output(const std::string& folder, size_t k) {
        return folder + "/output_" + std::to_string(k) + ".pb";
    }

    static double worst_rel_l2(const std::string& got, const std::string& want) {
        double worst = 0;
        for (size_t k = 0; std::filesystem::exists(output(want, k)); ++k)
            worst = std::max(worst,
                             compare_tensors(read_tensor(output(got, k)), read_tensor(output(want, k)), 0, 0).rel_l2);
        return worst;
    }

    // The engine's outputs lie within the limit of the data's references; or, where the model amplifies rounding so
    // that the other runtime's own fp32 is no nearer to the truth, within twice its distance from references in double.
    void expect_agreement(const std::string& engine, const std::string& sample) {
        const std::string out = (work_ / "out").string(), exact = (work_ / "exact").string();
        builder_->check(engine, sample, out);
        const double distance = worst_rel_l2(out, sample);
        if (distance <= std::max(most_rel_l2, *GetParam().rounding)) return;
        builder_->reference(sample, exact);
        EXPECT_LE(worst_rel_l2(out, exact), 2 * worst_rel_l2(sample, exact))
            << sample << ": " << distance << " from the data's reference";
    }

    std::string model_, data_;
    std::filesystem::path work_;
    std::unique_ptr<Builder> builder_;
};

TEST_P(Models, AgreesWithTheReference) {
    const std::string engine = (work_ / "engine.hwe").string();
    builder_->build("", engine, "");
    builder_->load(engine, 1);
    for (const char* group : {"tuning", "heldout"})
        for (const auto& sample : std::filesystem::directory_iterator(data_ + "/" + group))
            expect_agreement(engine, sample.path().string());
}

TEST_P(Models, StaysNearTheReferenceInBf16) {
    if (!Target::native().avx512_bf16) GTEST_SKIP() << "no AVX512_BF16 here";
    const std::string engine = (work_ / "engine.hwe").string(), out = (work_ / "out").string();
    const std::string sample = data_ + "/tuning/test_data_set_0";
    const BuiltEngine in_fp32 = builder_->build("", engine, "");
    const BuiltEngine in_bf16 = builder_->build("format.compute=bf16", engine, "");
    EXPECT_NE(in_fp32.fingerprint, in_bf16.fingerprint);
    builder_->load(engine, 1);
    builder_->check(engine, sample, out);
    EXPECT_LE(worst_rel_l2(out, sample), most_rel_l2_in_bf16);
}

// The same engine twice: bytes must not depend on anything but model, route and target.
TEST_P(Models, BuildsTheSameBytesTwice) {
    const std::string a = (work_ / "a.hwe").string(), b = (work_ / "b.hwe").string();
    builder_->build("", a, "");
    builder_->build("", b, "");
    EXPECT_TRUE(read_file(a) == read_file(b));
}

class ExtraModels : public Models {
protected:
    void SetUp() override {
        if (!GetParam().rounding) GTEST_SKIP() << "rounding alone changes the answers of " << GetParam().model;
        Models::SetUp();
    }
};

TEST_P(ExtraModels, AgreesWithTheReference) {
    const std::string engine = (work_ / "engine.hwe").string();
    builder_->build("", engine, "");
    builder_->load(engine, 1);
    for (const auto& sample : std::filesystem::directory_iterator(data_ + "/tuning"))
        expect_agreement(engine, sample.path().string());
}

// Every operator of the model has a reference that accepts what the others give it, whether an engine can be built or
// not.
class ExtraReferences : public ::testing::TestWithParam<Case> {};

TEST_P(ExtraReferences, GiveFiniteOutputs) {
    const std::string path = model_path(GetParam());
    const std::string sample = data_path(GetParam()) + "/tuning/test_data_set_0";
    if (!std::filesystem::exists(path) || !std::filesystem::exists(sample))
        GTEST_SKIP() << "no " << path << " or no " << sample;
    const Registry<Op> ops = declared<Op>();
    const OnnxModel model = import_onnx(path, ops);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < model.graph.inputs.size(); ++i)
        inputs.push_back(read_tensor(sample + "/input_" + std::to_string(i) + ".pb"));
    for (const Tensor& output : interpret(model.graph, inputs, ops))
        for (int64_t i = 0; i < output.elements(); ++i) ASSERT_TRUE(std::isfinite(output.at(i))) << "element " << i;
}

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
    std::string name = info.param.model + "_" + info.param.profile + "_" + std::to_string(info.param.threads) + "T";
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, Models, ::testing::ValuesIn(cases("core", {1, 2})), test_name);
INSTANTIATE_TEST_SUITE_P(Extra, ExtraModels, ::testing::ValuesIn(cases("extra", {2})), test_name);
INSTANTIATE_TEST_SUITE_P(Extra, ExtraReferences, ::testing::ValuesIn(first_profiles("extra")), test_name);

}  // namespace
}  // namespace headway
