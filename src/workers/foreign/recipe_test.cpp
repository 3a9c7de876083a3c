// Recipes come back as they were written; damaged ones and those of a changed model are refused with the field.
#include "workers/foreign/recipe.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary.h"
#include "onnx/model_hash.h"

namespace headway {
namespace {

class RecipeTest : public testing::Test {
protected:
    RecipeTest() {
        // ModelProto with ir_version 8: enough for a hash.
        write_file_atomically(folder_.path() + "/model.onnx", std::string_view("\x08\x08", 2));
        recipe_.builder = "onnxruntime";
        recipe_.builder_version = "0.1.0";
        recipe_.runtime_version = "1.32.0";
        recipe_.model = folder_.path() + "/model.onnx";
        recipe_.model_hash = model_hash(recipe_.model).hex();
        recipe_.inputs = {{"x", "f32", {1, 3}}, {"ids \"quoted\"", "i64", {}}};
        recipe_.route = "threads.intra=1";
        recipe_.settings = {{"threads.intra", "1"}, {"graph.level", "all"}};
        recipe_.fingerprint = "f";
        recipe_.timing_key = "t";
    }

    std::string path() const { return folder_.path() + "/engine.hwe"; }

    std::string reason_of(const std::string& text) {
        write_file_atomically(path(), text);
        try {
            read_recipe(path());
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }

    // The recipe's text with one replacement.
    std::string with(const std::string& from, const std::string& to) {
        write_recipe(path(), recipe_);
        std::string text = read_file(path());
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    }

    TemporaryFolder folder_;
    Recipe recipe_;
};

TEST_F(RecipeTest, ComesBackAsWritten) {
    write_recipe(path(), recipe_);
    const Recipe read = read_recipe(path());
    EXPECT_EQ(read.builder, "onnxruntime");
    EXPECT_EQ(read.runtime_version, "1.32.0");
    EXPECT_EQ(read.inputs.at(1).name, "ids \"quoted\"");
    EXPECT_EQ(read.inputs.at(0).dims, (std::vector<int64_t>{1, 3}));
    EXPECT_EQ(read.settings, recipe_.settings);
    EXPECT_EQ(read.certificate, "");
    const std::string bytes = read_file(path());
    write_recipe(path(), read);
    EXPECT_EQ(read_file(path()), bytes);
    EXPECT_EQ(recipe_builder(path()), "onnxruntime");
}

TEST_F(RecipeTest, CertificateIsAllThatCertifyingChanges) {
    write_recipe(path(), recipe_);
    set_recipe_certificate(path(), R"({"claim":{"gain":0.1}})");
    Recipe read = read_recipe(path());
    EXPECT_EQ(read.certificate, R"({"claim":{"gain":0.1}})");
    read.certificate.clear();
    write_recipe(folder_.path() + "/again.hwe", read);
    write_recipe(path(), recipe_);
    EXPECT_EQ(read_file(folder_.path() + "/again.hwe"), read_file(path()));
    EXPECT_THROW(set_recipe_certificate(path(), "{"), UserError);
}

TEST_F(RecipeTest, HostileFilesAreRefusedWithTheField) {
    const std::map<std::string, std::string> faults{
        {with(R"("headway_recipe":1)", R"("headway_recipe":2)"), "version 2"},
        {with(R"("headway_recipe":1)", R"("headway_recipe":"1")"), "version"},
        {with(R"("model_hash":)", R"("model_hush":)"), "model_hash"},
        {with(R"("route":"threads.intra=1")", R"("route":7)"), "\"route\" is no text"},
        {with(R"("route":)", R"("rout":"","route":)"), "\"rout\" is unknown"},
        {with(R"([1,3])", R"([1,-3])"), "\"inputs\""},
        {with(R"([1,3])", R"([1,1e300])"), "\"inputs\""},
        {with(R"("f32")", R"("f33")"), "f33"},
        {with(R"("threads.intra":"1")", R"("threads.intra":[[[]]])"), "\"settings\""},
        {with(R"("fingerprint":"f")", R"("fingerprint":")" + std::string((size_t{1} << 20) + 1, 'x') + "\""),
         "\"fingerprint\" is too long"},
        {with("}\n", ""), "not JSON"},
        {std::string(100'000, '['), "nested deeper"},
        {"", "not JSON"},
        {"[]", "no JSON object"},
    };
    for (const auto& [text, fault] : faults) {
        const std::string reason = reason_of(text);
        EXPECT_NE(reason.find(fault), std::string::npos) << "'" << reason << "' for " << text.substr(0, 400);
        EXPECT_EQ(reason.find('\n'), std::string::npos);
    }
}

TEST_F(RecipeTest, OtherFilesAreNoRecipes) {
    for (const char* text : {"", "HEADWAY", R"({"headway_recipe":1})", R"( {"headway_recipe":1,"builder":"x"})",
                             R"({"headway_recipe":1,"builder":"x)"}) {
        write_file_atomically(path(), std::string_view(text));
        EXPECT_EQ(recipe_builder(path()), std::nullopt) << text;
    }
    EXPECT_EQ(recipe_builder(folder_.path() + "/absent"), std::nullopt);
    EXPECT_EQ(recipe_builder(folder_.path()), std::nullopt);
}

TEST_F(RecipeTest, FindsTheModelWhereItWasOrBesideTheRecipe) {
    EXPECT_EQ(find_recipe_model(recipe_, path()), recipe_.model);
    Recipe moved = recipe_;
    moved.model = "/nowhere/at/all/model.onnx";
    EXPECT_EQ(find_recipe_model(moved, path()), folder_.path() + "/model.onnx");
    moved.variant = "/nowhere/model.int8.onnx";
    EXPECT_THROW(find_recipe_model(moved, path()), UserError);
}

TEST_F(RecipeTest, AChangedModelIsRefused) {
    write_file_atomically(recipe_.model, std::string_view("\x08\x07", 2));
    try {
        find_recipe_model(recipe_, path());
        ADD_FAILURE() << "a changed model was accepted";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("has changed"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace headway
