#include "knobs/route.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace headway {
namespace {

const Knob<std::string_view> algorithm{{.name = "conv.algorithm",
                                        .help = "",
                                        .family = "kernel",
                                        .values = {"auto", "direct", "winograd4"},
                                        .scope = Scope::site,
                                        .witness = ""}};
const Knob<int64_t> max_group{{.name = "fuse_pointwise.max_group",
                               .help = "",
                               .family = "fusion",
                               .values = {16, 1, 4, 64},
                               .scope = Scope::site,
                               .witness = ""}};
const Knob<int64_t> threads{
    {.name = "runtime.threads", .help = "", .family = "thread", .values = {0, 1, 2}, .witness = ""}};

const Registry<KnobBase>& knobs() {
    static const Registry<KnobBase> registry({&max_group, &algorithm, &threads});
    return registry;
}

Route parse(std::string_view text) { return Route::parse(text, knobs()); }

template <class Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}
std::string parse_error(std::string_view text) {
    return error_of([&] { parse(text); });
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string_view algorithm_at(const Route& route, std::vector<std::string> origins) {
    return route.get(algorithm, origins);
}

TEST(Route, DefaultIsEmptyText) {
    EXPECT_EQ(Route().text(), "");
    EXPECT_EQ(parse(""), Route());
    EXPECT_EQ(parse(" \n # nothing\n,,\n"), Route());
    EXPECT_EQ(Route().get(algorithm), "auto");
    EXPECT_EQ(Route().get(max_group), 16);
    EXPECT_FALSE(Route().has_sites());
}

TEST(Route, CanonicalTextIsSortedWithoutDefaults) {
    const Route route = parse("runtime.threads=2, fuse_pointwise.max_group=16 ,conv.algorithm=direct");
    EXPECT_EQ(route.text(), "conv.algorithm=direct,runtime.threads=2");
    EXPECT_EQ(route, parse("conv.algorithm = direct\r\n# a comment, with a comma\nruntime.threads=2 # two\n"));
    EXPECT_EQ(route.hash(), parse(route.text()).hash());
    EXPECT_NE(route.hash(), Route().hash());
    EXPECT_EQ(route.get(algorithm), "direct");
    EXPECT_EQ(route.get(threads), 2);
    EXPECT_EQ(route.settings(),
              (std::vector<Route::Setting>{{"conv.algorithm", "", "direct"}, {"runtime.threads", "", "2"}}));
}

TEST(Route, RoundTripsOddSiteNames) {
    for (const std::string site :
         {"Conv#3", "/backbone/*", "a b", "a=b", "a,b", "say \"x\"", "back\\slash", "line\nbreak", "\x01", "größe",
          "a@b", "#first", "tab\tend", "[x|y]", "\xFF\xC3", "outer/branch/Conv#0"}) {
        const Route route = Route().with(algorithm, "direct", site);
        EXPECT_EQ(parse(route.text()), route) << route.text();
        EXPECT_EQ(route.text().find('\n'), std::string::npos);
        EXPECT_EQ(algorithm_at(parse("runtime.threads=1," + route.text() + ",fuse_pointwise.max_group=4"), {site}),
                  "direct");
    }
    EXPECT_EQ(Route().with(algorithm, "direct", "Conv#3").text(), "conv.algorithm@Conv#3=direct");
    EXPECT_EQ(Route().with(algorithm, "direct", "a b").text(), "conv.algorithm@\"a b\"=direct");
    EXPECT_EQ(parse("conv.algorithm@Conv#3=direct"), parse("conv.algorithm@ \"Conv#3\" =direct"));
}

TEST(Route, ExactBeatsGlobBeatsGraph) {
    const Route route =
        parse("conv.algorithm=winograd4,conv.algorithm@/a/*=direct,conv.algorithm@/a/last=auto,conv.algorithm@/?=auto");
    EXPECT_EQ(algorithm_at(route, {"/b/conv"}), "winograd4");
    EXPECT_EQ(algorithm_at(route, {"/a/conv"}), "direct");
    EXPECT_EQ(algorithm_at(route, {"/a/x/y"}), "direct");
    EXPECT_EQ(algorithm_at(route, {"/a/last"}), "auto");
    EXPECT_EQ(algorithm_at(route, {"/x"}), "auto");
    EXPECT_EQ(algorithm_at(route, {}), "winograd4");
    EXPECT_EQ(algorithm_at(route, {""}), "winograd4");
    EXPECT_EQ(route.get(algorithm), "winograd4");
    EXPECT_TRUE(route.has_sites());
}

TEST(Route, FirstOriginIsTheAnchor) {
    const Route route = parse("conv.algorithm@/a=direct,conv.algorithm@/b=winograd4");
    EXPECT_EQ(algorithm_at(route, {"/b", "/a"}), "winograd4");
    EXPECT_EQ(algorithm_at(route, {"/c", "/a"}), "auto");
}

TEST(Route, ASiteSettingOfTheDefaultIsKept) {
    const Route shielded = parse("conv.algorithm=direct,conv.algorithm@/a=auto");
    EXPECT_EQ(shielded.text(), "conv.algorithm=direct,conv.algorithm@/a=auto");
    const Route either_order = Route().with(algorithm, "auto", "/a").with(algorithm, "direct", "/*");
    EXPECT_EQ(either_order, Route().with(algorithm, "direct", "/*").with(algorithm, "auto", "/a"));
    EXPECT_EQ(algorithm_at(either_order, {"/a"}), "auto");
}

TEST(Route, ANameWithGlobCharactersIsExactForItself) {
    const Route route = parse("conv.algorithm@w*=direct,conv.algorithm@*=winograd4");
    EXPECT_EQ(algorithm_at(route, {"w*"}), "direct");
    EXPECT_NO_THROW(route.check_sites(std::vector<std::string>{"w*", "x"}));
    EXPECT_THROW(route.check_sites(std::vector<std::string>{"w*", "wx"}), UserError);
}

TEST(Route, UnknownNamesGetTheNearest) {
    EXPECT_TRUE(contains(parse_error("conv.algoritm=direct"), "did you mean \"conv.algorithm\"?"));
    EXPECT_TRUE(contains(parse_error("conv.algorithm=dirct"), "did you mean \"direct\"?"));
    EXPECT_TRUE(contains(parse_error("conv.algorithm=dirct"), "auto, direct, winograd4"));
    EXPECT_TRUE(contains(parse_error("something_else_entirely=1"), "headway knobs"));
    EXPECT_TRUE(contains(parse_error("runtime.threads@/a=1"), "takes no site"));
}

TEST(Route, ContradictionsAreErrors) {
    EXPECT_TRUE(contains(parse_error("conv.algorithm=direct,conv.algorithm=winograd4"), "keep one"));
    EXPECT_TRUE(contains(parse_error("conv.algorithm=auto,conv.algorithm=winograd4"), "keep one"));
    EXPECT_TRUE(contains(parse_error("conv.algorithm@/a=auto,conv.algorithm@\"/a\"=direct"), "keep one"));
    EXPECT_EQ(parse("conv.algorithm=direct,conv.algorithm=direct"), parse("conv.algorithm=direct"));
    EXPECT_THROW(parse("conv.algorithm=direct").with(algorithm, "winograd4"), UserError);
    EXPECT_THROW(parse("conv.algorithm=direct").with(algorithm, "auto"), UserError);
    EXPECT_EQ(parse("conv.algorithm=direct").with(algorithm, "direct"), parse("conv.algorithm=direct"));
    EXPECT_EQ(Route().with(algorithm, "auto"), Route());
    EXPECT_THROW(Route().with(threads, "1", "/a"), UserError);
    EXPECT_THROW(Route().with(threads, "3"), UserError);
}

TEST(Route, BrokenTextIsAnErrorInOneLine) {
    for (const std::string text :
         {"conv.algorithm", "=direct", "conv.algorithm=", "conv.algorithm@=direct", "conv.algorithm@/a", "@/a=direct",
          "conv.algorithm@\"/a=direct", "conv.algorithm@\"a\\q\"=direct", "conv.algorithm@\"\"=direct",
          "conv.algorithm@\"a\\x0\"=direct", "conv.algorithm@\"a\"b=direct", "conv.algorithm=[direct|auto]",
          "conv.algorithm@/a\n=direct", "conv.algorithm@\"\\", "a\x1b[2J", "conv.algorithm=\x1b[2J"}) {
        const std::string error = parse_error(text);
        EXPECT_NE(error, "no error") << text;
        EXPECT_EQ(error.find_first_of("\n\x1b"), std::string::npos) << text;
    }
}

TEST(Route, CheckSites) {
    const std::vector<std::string> names{"/a/conv", "/a/relu", "/b/conv", "Conv#3"};
    EXPECT_NO_THROW(Route().check_sites(names));
    EXPECT_NO_THROW(parse("conv.algorithm@/a/*=direct,conv.algorithm@Conv#3=direct").check_sites(names));
    const auto check_error = [&](std::string_view text) { return error_of([&] { parse(text).check_sites(names); }); };
    EXPECT_TRUE(contains(check_error("conv.algorithm@/c/*=direct"), "matches no site"));
    EXPECT_TRUE(contains(check_error("conv.algorithm@/a/conf=direct"), "did you mean /a/conv?"));
    const std::string conflict = check_error("conv.algorithm@/a/*=direct,conv.algorithm@*/conv=winograd4");
    EXPECT_TRUE(contains(conflict, "both match site \"/a/conv\"")) << conflict;
    EXPECT_EQ(check_error("conv.algorithm@/a/*=direct,conv.algorithm@*/conv=direct"), "no error");
    EXPECT_EQ(check_error("conv.algorithm@/a/*=direct,conv.algorithm@*/conv=winograd4,conv.algorithm@/a/conv=auto"),
              "no error");
    EXPECT_EQ(check_error("conv.algorithm@/a/*=direct,fuse_pointwise.max_group@*/conv=4"), "no error");
}

TEST(RouteSet, ParsesSetsAndFixedValues) {
    const RouteSet set = RouteSet::parse(
        "conv.algorithm=[winograd4 | auto],runtime.threads=1\nconv.algorithm@\"x y\"=[direct]", knobs());
    ASSERT_EQ(set.axes.size(), 3u);
    EXPECT_EQ(set.axes[0].knob, &algorithm);
    EXPECT_EQ(set.axes[0].values, (std::vector<std::string>{"winograd4", "auto"}));
    EXPECT_EQ(set.axes[1].values, (std::vector<std::string>{"1"}));
    EXPECT_EQ(set.axes[2].site, "x y");
    EXPECT_EQ(set.axes[2].values, (std::vector<std::string>{"direct"}));
    EXPECT_TRUE(RouteSet::parse("", knobs()).axes.empty());
}

TEST(RouteSet, RefusesBadSets) {
    for (const std::string text :
         {"conv.algorithm=[auto|fast]", "conv.algorithm=[auto", "conv.algorithm=[]", "conv.algorithm=[auto||direct]",
          "conv.algorithm=[auto|auto]", "conv.algorithm=auto,conv.algorithm=[direct]", "runtime.threads@/a=[0|1]",
          "conv.algorith=[auto]"})
        EXPECT_THROW(RouteSet::parse(text, knobs()), UserError) << text;
}

TEST(RouteSet, AllHasEveryValueOfEveryKnob) {
    const RouteSet set = RouteSet::all(knobs());
    ASSERT_EQ(set.axes.size(), 3u);
    EXPECT_EQ(set.axes[0].knob, &algorithm);
    EXPECT_EQ(set.axes[1].values, max_group.values());
    EXPECT_EQ(set.axes[2].site, "");
}

}  // namespace
}  // namespace headway
