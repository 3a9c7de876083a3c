// Strings in the interpreter: their own operators, and those that move, compare or order elements of any type.
#include "graph/text.h"
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

using Texts = std::vector<std::string>;

// One node on data; `outputs` of them, as its attributes stand in the text form.
std::vector<Datum> run_node_on(const std::string& op, const std::vector<Datum>& inputs,
                               const std::string& attributes = "", size_t outputs = 1) {
    std::string text = "graph {\n", arguments, results, declared_outputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const std::string name = "%x" + std::to_string(i);
        text += "input " + name + "\n";
        arguments += (i > 0 ? ", " : "") + name;
    }
    for (size_t i = 0; i < outputs; ++i) {
        const std::string name = "%y" + std::to_string(i);
        results += (i > 0 ? ", " : "") + name;
        declared_outputs += "output " + name + "\n";
    }
    text += results + " = " + op + "(" + arguments + ") {" + attributes + "}\n" + declared_outputs + "}";
    return interpret_data(parse_graph(text), inputs, declared<Op>());
}

Strings texts(Shape shape, Texts values) { return {std::move(shape), std::move(values)}; }
Strings texts(Texts values) { return {Shape{static_cast<int64_t>(values.size())}, std::move(values)}; }

void expect_texts(const Datum& got, const Shape& shape, const Texts& want) {
    ASSERT_TRUE(std::holds_alternative<Strings>(got)) << kind_of(got);
    EXPECT_EQ(std::get<Strings>(got).shape.text(), shape.text());
    EXPECT_EQ(std::get<Strings>(got).values, want);
}

void expect_numbers(const Datum& got, const Shape& shape, const std::vector<double>& want) {
    ASSERT_TRUE(std::holds_alternative<Tensor>(got)) << kind_of(got);
    expect_values(std::get<Tensor>(got), shape, want);
}

TEST(Strings, AreMovedByTheOperatorsThatMoveNumbers) {
    const Strings six = texts({2, 3}, {"a", "bb", "", "a", "\xff\x00z", "c"});
    const std::string odd = six.values[4];
    expect_texts(run_node_on("Identity:25", {six})[0], {2, 3}, six.values);
    expect_texts(run_node_on("Reshape:25", {six, i64({3, -1})})[0], {3, 2}, six.values);
    expect_texts(run_node_on("Transpose:25", {six})[0], {3, 2}, {"a", "a", "bb", odd, "", "c"});
    expect_texts(run_node_on("Gather:13", {six, i64({-1, 0})}, "axis=1")[0], {2, 2}, {"", "a", "c", "a"});
    expect_texts(run_node_on("Slice:13", {six, i64({2}), i64({-9}), i64({1}), i64({-2})})[0], {2, 2},
                 {"", "a", "c", "a"});
    expect_texts(run_node_on("Concat:13", {six, texts({2, 1}, {"p", "q"})}, "axis=1")[0], {2, 4},
                 {"a", "bb", "", "p", "a", odd, "c", "q"});
    expect_texts(run_node_on("Tile:13", {texts({"x", "y"}), i64({2})})[0], {4}, {"x", "y", "x", "y"});
    expect_texts(run_node_on("Expand:13", {texts({2, 1}, {"x", "y"}), i64({2, 2})})[0], {2, 2}, {"x", "x", "y", "y"});
    expect_texts(run_node_on("Unsqueeze:13", {texts({"x"}), i64({0})})[0], {1, 1}, {"x"});
    expect_texts(run_node_on("Squeeze:13", {texts({1, 1}, {"x"})})[0], {}, {"x"});
    expect_texts(run_node_on("Flatten:13", {six})[0], {2, 3}, six.values);
    expect_texts(run_node_on("Compress:11", {six, of_type(ElementType::boolean, {2}, {0, 1})}, "axis=0")[0], {1, 3},
                 {"a", odd, "c"});
    const auto parts = run_node_on("Split:13", {six, i64({1, 2})}, "axis=1", 2);
    expect_texts(parts[0], {2, 1}, {"a", "a"});
    expect_texts(parts[1], {2, 2}, {"bb", "", odd, "c"});
}

TEST(Strings, PaddingIsTheEmptyStringOrTheGivenOne) {
    expect_texts(run_node_on("Pad:18", {texts({"a", "b"}), i64({1, 2})})[0], {5}, {"", "a", "b", "", ""});
    expect_texts(run_node_on("Pad:18", {texts({"a", "b"}), i64({0, 1}), texts({}, {"zz"})})[0], {3}, {"a", "b", "zz"});
}

TEST(Strings, WhereChoosesBetweenThem) {
    const Tensor condition = of_type(ElementType::boolean, {3}, {1, 0, 1});
    expect_texts(run_node_on("Where:16", {condition, texts({"a", "b", "c"}), texts({"x"})})[0], {3}, {"a", "x", "c"});
}

TEST(Strings, AreComparedOrderedAndCounted) {
    expect_numbers(run_node_on("Equal:19", {texts({"a", "b", ""}), texts({"b"})})[0], {3}, {0, 1, 0});
    expect_numbers(run_node_on("Shape:25", {texts({2, 1}, {"a", "b"})})[0], {2}, {2, 1});
    expect_numbers(run_node_on("Size:25", {texts({2, 1}, {"a", "b"})})[0], {}, {2});
    expect_numbers(run_node_on("NonZero:13", {texts({"", "b", "c"})})[0], {1, 2}, {1, 2});
    const Strings x = texts({"b", "a", "b", "ab"});
    auto y = run_node_on("Unique:11", {x}, "", 4);
    expect_texts(y[0], {3}, {"a", "ab", "b"});
    expect_numbers(y[1], {3}, {1, 3, 0});
    expect_numbers(y[2], {4}, {2, 0, 2, 1});
    expect_numbers(y[3], {3}, {1, 1, 2});
    expect_texts(run_node_on("Unique:11", {x}, "sorted=0")[0], {3}, {"b", "a", "ab"});
}

TEST(Strings, AreRefusedWhereNumbersBelong) {
    const Strings two = texts({"1", "2"});
    EXPECT_THROW(run_node_on("Add:14", {two, two}), Unsupported);
    EXPECT_THROW(run_node_on("Dropout:13", {two}), Unsupported);
    EXPECT_THROW(run_node_on("Greater:13", {two, two}), Unsupported);
    EXPECT_THROW(run_node_on("Concat:13", {two, of_type(ElementType::f64, {1}, {1})}, "axis=0"), UserError);
    EXPECT_THROW(run_node_on("Where:16",
                             {of_type(ElementType::boolean, {2}, {1, 0}), two, of_type(ElementType::f64, {2}, {1, 0})}),
                 UserError);
    EXPECT_THROW(run_node_on("Gather:13", {f32({2}, {1, 2}), two}), UserError) << "strings as indices";
    EXPECT_THROW(run_node_on("Reshape:25", {two, two}), UserError) << "strings as a shape";
    EXPECT_THROW(run_node_on("Tile:13", {f32({2}, {1, 2}), texts({"2"})}), UserError);
    EXPECT_THROW(run_node_on("StringConcat:20", {f32({1}, {1}), two}), UserError);
}

TEST(Strings, TooManyAndTooLongOnesAreRefusedBeforeTheyAreMade) {
    const Strings one = texts({std::string(1 << 20, 'a')});
    EXPECT_THROW(run_node_on("Expand:13", {one, i64({1 << 14})}), UserError);
    EXPECT_THROW(StringsWriter(Shape{int64_t{1} << 40}), UserError);
}

TEST(Strings, ConstantsHoldThem) {
    const auto y = interpret_data(parse_graph(R"(graph {
        %a = Constant:13() {value=string[2,1] {"x","\x00"}}
        %b = Constant:13() {value_string="s"}
        %c = Constant:13() {value_strings=["t", ""]}
        output %a
        output %b
        output %c
    })"),
                                  {}, declared<Op>());
    expect_texts(y[0], {2, 1}, {"x", std::string(1, '\0')});
    expect_texts(y[1], {}, {"s"});
    expect_texts(y[2], {2}, {"t", ""});
}

TEST(StringConcat, Broadcasts) {
    expect_texts(run_node_on("StringConcat:20", {texts({2, 1}, {"a", "b"}), texts({"x", "", "yz"})})[0], {2, 3},
                 {"ax", "a", "ayz", "bx", "b", "byz"});
    expect_texts(run_node_on("StringConcat:20", {texts({}, {"a"}), texts({}, {"b"})})[0], {}, {"ab"});
    expect_texts(run_node_on("StringConcat:20", {texts({0}, {}), texts({"b"})})[0], {0}, {});
    EXPECT_THROW(run_node_on("StringConcat:20", {texts({"a", "b"}), texts({"a", "b", "c"})}), UserError);
}

// By Python's str.split.
TEST(StringSplit, SplitsAtADelimiterOrAtBlanks) {
    auto y = run_node_on("StringSplit:20", {texts({"a--b", "", "-c"})}, R"(delimiter="-")", 2);
    expect_texts(y[0], {3, 3}, {"a", "", "b", "", "", "", "", "c", ""});
    expect_numbers(y[1], {3}, {3, 1, 2});
    y = run_node_on("StringSplit:20", {texts({2, 1}, {"  a \t b  ", " "})}, "", 2);
    expect_texts(y[0], {2, 1, 2}, {"a", "b", "", ""});
    expect_numbers(y[1], {2, 1}, {2, 0});
    y = run_node_on("StringSplit:20", {texts({"a b  c ", "abab"})}, "maxsplit=1", 2);
    expect_texts(y[0], {2, 2}, {"a", "b  c", "abab", ""});
    y = run_node_on("StringSplit:20", {texts({"abcbd"})}, R"(delimiter="b", maxsplit=0)", 2);
    expect_texts(y[0], {1, 1}, {"abcbd"});
    y = run_node_on("StringSplit:20", {texts({0}, {})}, "", 2);
    expect_texts(y[0], {0, 0}, {});
}

TEST(RegexFullMatch, MatchesTheWholeText) {
    expect_numbers(run_node_on("RegexFullMatch:20", {texts({"abc", "xabc", "abcd", ""})}, R"(pattern="a.c")")[0], {4},
                   {1, 0, 0, 0});
    expect_numbers(run_node_on("RegexFullMatch:20", {texts({"", "a"})}, R"(pattern="")")[0], {2}, {1, 0});
    EXPECT_THROW(run_node_on("RegexFullMatch:20", {texts({"a"})}, R"(pattern="(")"), UserError);
    EXPECT_THROW(run_node_on("RegexFullMatch:20", {texts({"a"})}, R"(pattern="(?=a)a")"), UserError) << "not in RE2";
    EXPECT_THROW(run_node_on("RegexFullMatch:20", {texts({"a"})}), UserError);
}

TEST(StringNormalizer, DropsStopWordsAndChangesCase) {
    const Strings x = texts({"Monday", "monday", "\xc3\x84rger", "x"});  // Aerger with A umlaut
    expect_texts(run_node_on("StringNormalizer:10", {x},
                             R"(case_change_action="UPPER", is_case_sensitive=1, stopwords=["monday"])")[0],
                 {3}, {"MONDAY", "\xc3\x84RGER", "X"});
    expect_texts(run_node_on("StringNormalizer:10", {x}, R"(case_change_action="LOWER", stopwords=["MONDAY", "x"])")[0],
                 {1}, {"\xc3\xa4rger"});
    expect_texts(run_node_on("StringNormalizer:10", {x})[0], {4}, x.values);
    expect_texts(run_node_on("StringNormalizer:10", {texts({1, 2}, {"a", "A"})}, R"(stopwords=["a"])")[0], {1, 1},
                 {""});
    expect_texts(run_node_on("StringNormalizer:10",
                             {texts({"\xff"
                                     "a",
                                     "\xc3"})},
                             R"(case_change_action="UPPER")")[0],
                 {2},
                 {"\xff"
                  "A",
                  "\xc3"});
    EXPECT_THROW(run_node_on("StringNormalizer:10", {texts({2, 1}, {"a", "b"})}), UserError);
    EXPECT_THROW(run_node_on("StringNormalizer:10", {x}, R"(case_change_action="Upper")"), UserError);
}

Datum cast_to(ElementType type, const Datum& x) {
    return run_node_on("Cast:25", {x}, "to=" + std::to_string(static_cast<int>(type)))[0];
}

// As numpy.ndarray.astype(str) prints doubles; the digits of f32 and f16 by numpy's str of the scalar.
TEST(CastStrings, PrintsNumbers) {
    const auto prints = [](ElementType type, std::vector<double> values, const Texts& want) {
        const Shape shape{static_cast<int64_t>(values.size())};
        expect_texts(cast_to(ElementType::string, of_type(type, shape, std::move(values))), shape, want);
    };
    prints(ElementType::f64, {0, -0.0, 1, 100, 1e-4, 9.9e-5, 1.0 / 3, 123456.789, -2.5e-7, 1e15, 1e16, 1.5e300},
           {"0.0", "-0.0", "1.0", "100.0", "0.0001", "9.9e-05", "0.3333333333333333", "123456.789", "-2.5e-07",
            "1000000000000000.0", "1e+16", "1.5e+300"});
    prints(ElementType::f32, {0.1, 1.0 / 3, 123456.789, nan_f, inf_f, -inf_f, 3.4e38},
           {"0.1", "0.33333334", "123456.79", "nan", "inf", "-inf", "3.4e+38"});
    prints(ElementType::f16, {1.0 / 3, -2.5e-7, 5.96e-8, 0.1}, {"0.3333", "-2.4e-07", "6e-08", "0.1"});
    prints(ElementType::i8, {-5, 127}, {"-5", "127"});
    prints(ElementType::boolean, {1, 0}, {"True", "False"});
    expect_texts(cast_to(ElementType::string, Tensor::scalar(UINT64_MAX)), {}, {"18446744073709551615"});
    expect_texts(cast_to(ElementType::string, Tensor::scalar(INT64_MIN)), {}, {"-9223372036854775808"});
}

TEST(CastStrings, ReadsNumbers) {
    expect_numbers(cast_to(ElementType::f32, texts({"3.14", "1E8", "-1e-5", "+2", " 7 ", "1e-50"})), {6},
                   {3.14F, 1e8, -1e-5F, 2, 7, 0});
    expect_numbers(cast_to(ElementType::f64, texts({"NaN", "inf", "+INF", "-Inf", "1e400"})), {5},
                   {nan_f, inf_f, inf_f, -inf_f, inf_f});
    expect_numbers(cast_to(ElementType::f16, texts({"0.3333"})), {1}, {0.333251953125});
    expect_numbers(cast_to(ElementType::i32, texts({"-12", "100.5", "1e3"})), {3}, {-12, 100, 1000});
    expect_numbers(cast_to(ElementType::boolean, texts({"True", "false", "0", "0.5"})), {4}, {1, 0, 0, 1});
    EXPECT_EQ(std::get<Tensor>(cast_to(ElementType::u64, texts({"18446744073709551615"}))).data<uint64_t>()[0],
              UINT64_MAX);
    expect_texts(cast_to(ElementType::string, texts({"a"})), {1}, {"a"});
    for (const char* wrong : {"", "abc", "1x", "+-1", "0x10", "1 2"})
        EXPECT_THROW(cast_to(ElementType::f32, texts({wrong})), UserError) << wrong;
    EXPECT_THROW(cast_to(ElementType::i64, texts({"99999999999999999999"})), UserError);
    EXPECT_THROW(cast_to(ElementType::i64, texts({"nan"})), UserError);
    EXPECT_THROW(cast_to(ElementType::f8e5m2, texts({"1"})), Unsupported);
}

TEST(CastStrings, CastLikeTakesTheTypeOfTheSecondInput) {
    expect_texts(run_node_on("CastLike:25", {f32({1}, {1.5}), texts({"a", "b"})})[0], {1}, {"1.5"});
    expect_numbers(run_node_on("CastLike:25", {texts({"1.5"}), i64({7})})[0], {1}, {1});
}

TEST(LabelEncoder, MapsKeysToValues) {
    const std::string op = "ai.onnx.ml/LabelEncoder:4";
    expect_numbers(run_node_on(op, {texts({"b", "z", "a"})}, R"(keys_strings=["a", "b"], values_int64s=[5, 6])")[0],
                   {3}, {6, -1, 5});
    expect_texts(run_node_on(op, {i64({2, 3})}, R"(keys_int64s=[2], values_strings=["two"])")[0], {2},
                 {"two", "_Unused"});
    expect_numbers(run_node_on(op, {f32({4}, {nan_f, 0, 1, 2})},
                               "keys_floats=[nan, -0.0, 1.0, 1.0], values_floats=[1.0, 2.0, 3.0, 4.0], "
                               "default_float=9.0")[0],
                   {4}, {1, 2, 4, 9});
    expect_numbers(run_node_on(op, {of_type(ElementType::i16, {2}, {1, 2})},
                               "keys_tensor=i16[1] {2}, values_tensor=f64[1] {0.5}, default_tensor=f64[1] {7}")[0],
                   {2}, {7, 0.5});
    EXPECT_THROW(run_node_on(op, {i64({2})}, R"(keys_strings=["a"], values_int64s=[1])"), UserError);
    EXPECT_THROW(run_node_on(op, {i64({2})}, "keys_int64s=[1, 2], values_int64s=[1]"), UserError);
    EXPECT_THROW(run_node_on(op, {i64({2})}, "values_int64s=[1]"), UserError);
    EXPECT_THROW(run_node_on(op, {i64({2})}, "keys_int64s=[1], values_int64s=[1], default_tensor=f32[1] {1}"),
                 UserError);
}

TEST(LabelEncoder, OfOpset1NamesClasses) {
    const std::string op = "ai.onnx.ml/LabelEncoder:1";
    const std::string attributes = R"(classes_strings=["a", "b"], default_int64=9)";
    expect_numbers(run_node_on(op, {texts({"b", "c", "a"})}, attributes)[0], {3}, {1, 9, 0});
    expect_texts(run_node_on(op, {i64({1, 2})}, attributes)[0], {2}, {"b", "_Unused"});
}

// The same as with integers for strings.
TEST(TfIdfVectorizer, CountsStrings) {
    const std::string attributes =
        R"(max_gram_length=2, min_gram_length=1, max_skip_count=0, mode="TF", ngram_counts=[0, 1], ngram_indexes=[0, 1],
           pool_strings=["a", "b", "c"])";  // "a", and "b" before "c"
    expect_numbers(run_node_on("TfIdfVectorizer:9", {texts({2, 3}, {"b", "c", "a", "x", "b", "c"})}, attributes)[0],
                   {2, 2}, {1, 1, 0, 1});
    EXPECT_THROW(run_node_on("TfIdfVectorizer:9", {i64({1})}, attributes), UserError);
}

TEST(Strings, AreScattered) {
    const Strings four = texts({2, 2}, {"a", "bb", "", "d"});
    expect_texts(
        run_node_on("ScatterElements:18", {four, i64({1, 2}, {-1, 0}), texts({1, 2}, {"x", "y"})}, "axis=1")[0], {2, 2},
        {"y", "x", "", "d"});
    expect_texts(run_node_on("Scatter:9", {four, i64({1, 1}, {1}), texts({1, 1}, {"x"})})[0], {2, 2},
                 {"a", "bb", "x", "d"});
    expect_texts(run_node_on("ScatterND:18", {four, i64({1, 1}, {1}), texts({1, 2}, {"x", "y"})})[0], {2, 2},
                 {"a", "bb", "x", "y"});
    expect_texts(run_node_on("ScatterND:18", {four, i64({2, 2}, {0, 0, 1, 1}), texts({"x", "y"})})[0], {2, 2},
                 {"x", "bb", "", "y"});
    EXPECT_THROW(run_node_on("ScatterND:18", {four, i64({1, 1}, {2}), texts({1, 2}, {"x", "y"})}), UserError);
    EXPECT_THROW(run_node_on("ScatterND:18", {four, i64({1, 1}, {1}), texts({2, 1}, {"x", "y"})}), UserError);
    EXPECT_THROW(run_node_on("ScatterND:18", {four, i64({1, 1}, {1}), ramp({1, 2})}), UserError);
    EXPECT_THROW(run_node_on("ScatterND:18", {four, i64({1, 1}, {1}), texts({1, 2}, {"x", "y"})}, "reduction=\"add\""),
                 UserError);
    EXPECT_THROW(run_node_on("ScatterElements:18", {four, i64({1, 1}, {1}), texts({1, 1}, {"x"})}, "reduction=\"max\""),
                 UserError);
}

TEST(Strings, FillTrianglesAndOneHotLines) {
    const Strings four = texts({2, 2}, {"a", "b", "c", "d"});
    expect_texts(run_node_on("Trilu:14", {four}, "upper=0")[0], {2, 2}, {"a", "", "c", "d"});
    expect_texts(run_node_on("OneHot:11", {i64({1, 0}), i64({2}), texts({"off", "on"})})[0], {2, 2},
                 {"off", "on", "on", "off"});
}

TEST(Strings, GoIntoSequencesAndOutOfThem) {
    const Strings a = texts({"a", ""}), b = texts({2, 1}, {"b", "c"});
    const Datum both = run_node_on("SequenceConstruct:11", {a, b})[0];
    expect_texts(run_node_on("SequenceAt:11", {both, i64({}, {1})})[0], {2, 1}, {"b", "c"});
    expect_numbers(run_node_on("SequenceLength:11", {both})[0], {}, {2});
    const Datum empty = run_node_on("SequenceEmpty:11", {}, "dtype=8")[0];
    const Datum one = run_node_on("SequenceInsert:11", {empty, b})[0];
    const Datum two = run_node_on("SequenceInsert:11", {one, a, i64({}, {0})})[0];
    expect_texts(run_node_on("SequenceAt:11", {two, i64({}, {0})})[0], {2}, {"a", ""});
    expect_texts(
        run_node_on("SequenceAt:11", {run_node_on("SequenceErase:11", {two, i64({}, {0})})[0], i64({}, {0})})[0],
        {2, 1}, {"b", "c"});
    EXPECT_THROW(run_node_on("SequenceInsert:11", {one, ramp({2})}), UserError) << "of another type";
    EXPECT_THROW(run_node_on("SequenceConstruct:11", {a, ramp({2})}), UserError);
    const Datum held = run_node_on("OptionalGetElement:18", {run_node_on("Optional:15", {both})[0]})[0];
    expect_numbers(run_node_on("SequenceLength:11", {held})[0], {}, {2});
    expect_texts(run_node_on("OptionalGetElement:18", {run_node_on("Optional:15", {a})[0]})[0], {2}, {"a", ""});
}

TEST(Strings, AreSplitIntoSequencesAndJoinedAgain) {
    const Strings six = texts({2, 3}, {"a", "bb", "", "d", "e", "f"});
    const Datum parts = run_node_on("SplitToSequence:11", {six, i64({1, 2})}, "axis=1")[0];
    expect_texts(run_node_on("SequenceAt:11", {parts, i64({}, {1})})[0], {2, 2}, {"bb", "", "e", "f"});
    expect_texts(run_node_on("ConcatFromSequence:11", {parts}, "axis=1")[0], {2, 3}, six.values);
    const Datum rows = run_node_on("SplitToSequence:11", {six}, "axis=0, keepdims=0")[0];
    expect_texts(run_node_on("SequenceAt:11", {rows, i64({}, {1})})[0], {3}, {"d", "e", "f"});
    expect_texts(run_node_on("ConcatFromSequence:11", {rows}, "axis=1, new_axis=1")[0], {3, 2},
                 {"a", "d", "bb", "e", "", "f"});
    EXPECT_THROW(run_node_on("ConcatFromSequence:11", {parts}, "axis=0"), UserError);
}

TEST(Strings, RunThroughLoopsScansAndMaps) {
    const auto run = [](const std::string& text, const std::vector<Datum>& inputs) {
        return interpret_data(parse_graph(text), inputs, declared<Op>());
    };
    const auto looped = run(R"(graph {
        input %n: i64[]
        input %x: string[1]
        %last, %all = Loop:16(%n, _, %x) {body=graph {
            input %i: i64[]
            input %c: bool[]
            input %before: string[1]
            %after = StringConcat:20(%before, %before)
            output %c
            output %after
            output %before
        }}
        output %last
        output %all
    })",
                            {i64({}, {2}), texts({"ab"})});
    expect_texts(looped[0], {1}, {"abababab"});
    expect_texts(looped[1], {2, 1}, {"ab", "abab"});
    const auto scanned = run(R"(graph {
        input %s: string[1]
        input %x: string[2,1]
        %last, %all = Scan:16(%s, %x) {num_scan_inputs=1, scan_input_directions=[1], body=graph {
            input %before: string[1]
            input %each: string[1]
            %after = StringConcat:20(%before, %each)
            output %after
            output %after
        }}
        output %last
        output %all
    })",
                             {texts({"<"}), texts({2, 1}, {"a", "b"})});
    expect_texts(scanned[0], {1}, {"<ba"});
    expect_texts(scanned[1], {2, 1}, {"<b", "<ba"});
    const auto mapped = run(R"(graph {
        input %s: sequence string
        input %x: string[1]
        %y = SequenceMap:17(%s, %x) {body=graph {
            input %a: string[1]
            input %b: string[1]
            %ab: string = StringConcat:20(%a, %b)
            output %ab
        }}
        output %y
    })",
                            {Sequence{ElementType::string, {texts({"a"}), texts({"b"})}}, texts({"!"})});
    expect_texts(datum_of(std::get<Sequence>(mapped[0]).tensors.at(1)), {1}, {"b!"});
}

}  // namespace
}  // namespace headway
