// One case of ONNX's backend tests: a model, and inputs with the outputs that they should give. Two forms: a folder
// with model.onnx and test_data_set_k/{input,output}_i.pb, or a "light" network, NAME.onnx with NAME_output_0.pb beside
// it, whose weights are made by ConstantOfShape and whose input is a ramp.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "tensor/datum.h"

namespace headway::conformance {

struct CaseFiles {
    std::string name;  // of the folder, or of the light model's file without .onnx
    std::string path;  // the folder, or the light model's file
};

// The cases in a folder and in the folders of it that ONNX's set has (node, simple, light, ...), sorted by name.
// UserError when the folder cannot be read.
std::vector<CaseFiles> find_cases(const std::string& folder);
// "node", "simple", "light", ...
std::string kind_of_case(const CaseFiles& files);
std::string model_file(const CaseFiles& files);

// |got - want| <= atol + rtol * |want|, as numpy's allclose; 16-bit floating point has its own.
struct CaseTolerance {
    double rtol = 1e-3, atol = 1e-7;
    double half_rtol = 1e-2, half_atol = 1e-3;
    // Added to atol: this share of the largest |want| of the tensor, where every element of a result is a sum over a
    // whole signal (DFT) and rounds by the size of all of it. ONNX's outputs were computed in f32.
    double of_largest = 0;
    // Products (Conv, MatMul, Gemm) that a value may pass one after the other: over them the rounding of knobs adds up.
    int products = 1;
};
// ONNX's own numbers, or those of the case's data.json, with what the model's operators need besides.
CaseTolerance tolerance_of(const CaseFiles& files);

// PREFIX0.pb, PREFIX1.pb, ... until one is missing; they hold what the values of the graph are declared as.
std::vector<Datum> read_data(const std::string& prefix, const Graph& graph, const std::vector<ValueId>& values);

struct DataSet {
    std::vector<Datum> inputs, outputs;
};
// All data sets of a case, in order. `graph` is the case's model: it says what kind of message each file holds.
std::vector<DataSet> read_data_sets(const CaseFiles& files, const Graph& graph);

// The operators that the model uses, sub-graphs included, as "Conv" or "ai.onnx.ml/Binarizer": sorted, each once. Read
// from the file itself, so that models that cannot be imported are counted too.
std::vector<std::string> operators_of(const CaseFiles& files);

}  // namespace headway::conformance
