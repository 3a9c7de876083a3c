#!/usr/bin/env python3
"""Write the first inputs of every fuzz target: OUT/<target>/<file>.

Models and tensors are ONNX's own conformance cases (Debian's libonnx-testdata); graphs and engine files are those of
the tests; the rest is made here or by the headway program.

usage: make_seeds.py OUT [--cases FOLDER] [--program build/release/headway]
"""
import argparse
import hashlib
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 4096  # bytes; larger inputs are slow to mutate and reach nothing more


class Seeds:
    def __init__(self, out: pathlib.Path):
        self.out = out

    def add(self, target: str, data: bytes) -> None:
        if len(data) > LARGEST:
            return
        folder = self.out / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def add_cases(seeds: Seeds, cases: pathlib.Path) -> None:
    for model in sorted(cases.rglob("model.onnx")):
        for target in ("onnx_import", "onnx_interpret", "onnx_build"):
            seeds.add(target, model.read_bytes())
    for tensor in sorted(cases.rglob("*put_*.pb")):
        if tensor.stat().st_size <= 200:
            seeds.add("tensor_proto", tensor.read_bytes())


def add_graphs(seeds: Seeds) -> None:
    for text in sorted((ROOT / "tests" / "graphs").glob("*.txt")):
        seeds.add("graph_text", text.read_bytes())


def npy(descr: str, shape: str, data: bytes, version: int = 1) -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    length = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + b"\n" + data


def add_arrays(seeds: Seeds) -> None:
    arrays = [npy("<f4", "(2, 3)", bytes(24)), npy("<i8", "()", bytes(8)), npy("|b1", "(4,)", b"\0\1\0\1"),
              npy("<f2", "(0, 7)", b""), npy("|u1", "(3,)", b"abc", version=2)]
    for array in arrays:
        seeds.add("npy", array)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        box = io.BytesIO()
        with zipfile.ZipFile(box, "w", method) as archive:
            for k, array in enumerate(arrays):
                archive.writestr(zipfile.ZipInfo(f"arr_{k}.npy"), array, method)
        seeds.add("npz", box.getvalue())


def add_routes(seeds: Seeds, program: pathlib.Path) -> None:
    knobs = json.loads(subprocess.run([program, "knobs", "--json"], check=True, capture_output=True).stdout)
    knobs = knobs["knobs"] if isinstance(knobs, dict) else knobs
    for knob in knobs:
        name, values = knob["name"], [str(value) for value in knob["values"]]
        seeds.add("route", f"{name}={values[-1]}".encode())
        seeds.add("route_set", f"{name}=[{'|'.join(values)}]".encode())
        if knob.get("scope") == "site":
            seeds.add("route", f"{name}@/backbone/*={values[-1]}  # why\n{name}@\"a,b\\\"c\"={values[0]}".encode())


def add_targets(seeds: Seeds) -> None:
    for text in ("native", "avx2", "avx512 ", "isa=avx512 vnni=1 bf16=1 fma512=2 l1=32768 l2=1048576 l3=1 threads=2",
                 "isa=baseline onednn=2.6.3"):
        seeds.add("target", text.encode())


def add_messages(seeds: Seeds) -> None:
    port = {"name": "x", "type": "f32", "dims": [1, 3]}
    messages = [
        {"model": "m.onnx", "target": "native", "threads": 1, "shapes": [{"input": "x", "dims": [1, 3]}],
         "values": [{"input": "n", "values": [1, 2]}], "variants": ["v.onnx"], "timing_data": "d"},
        {"model_hash": "00ff", "target": "isa=avx2", "inputs": [port], "outputs": [port]},
        {"name": "native", "version": "0.1.0"},
        {"knobs": [{"name": "k", "help": "h", "family": "f", "values": ["a"], "numerics": "exact", "scope": "site"}],
         "sites": ["Conv#0"]},
        {"route": "a=b", "fingerprint": "0f", "timing_key": "0f", "bytes": 12},
        {"kernel": "k", "origins": ["Conv#0"], "ns": 12}, {"language": "cpp", "text": "int main() {}"},
        {"ns": [1, 2, 3], "lost_ns": -1},
        {"iterations": 8, "preroll": 1, "streams": 1, "per_iteration": True, "cold": False},
        {"file": "reply-1"}, {"file": "../x"},
    ]
    for message in messages:
        seeds.add("worker_message", json.dumps(message).encode())


def add_profile(seeds: Seeds) -> None:
    seeds.add("machine_profile", json.dumps({
        "format": "headway-machine-profile", "version": 1, "subject": "s", "iteration_ms": 1.5, "threads": 2,
        "visits": 4, "rounds": 20, "components": {"round_sd": 0.01, "process_sd": 0.005}, "lag1": 0.1,
        "control": {"mean": 0.0, "p": 0.5}, "position": {"effect": 0.0, "p": 0.5},
        "cost": {"load_s": 0.1, "block_s": 0.05}, "clock_ghz": [3.0, 3.1, 3.2], "memory_gb_per_s": [9.0, 10.0, 11.0],
        "guards": {"run_delay": 0.1, "lost": 0.1, "clock_change": 0.1, "memory_change": 0.2, "steal": 0.1,
                   "missing": ["thermal"]},
        "builder_repeats": True}).encode())


def add_study(seeds: Seeds) -> None:
    print_a, print_b = "0" * 32, "1" * 32
    lines = [
        {"event": "header", "format": "headway-study", "version": 1, "model_hash": "a", "space_hash": "b",
         "gate_hash": "c", "data_hash": "d", "target": "isa=avx2", "builders": ["native 0.1.0"], "threads": 1,
         "scenario": "latency"},
        {"event": "session", "budget_s": 10},
        {"event": "knobs", "builder": "native", "knobs": [
            {"name": "k", "help": "h", "family": "fusion", "values": ["a", "b"], "numerics": "exact",
             "scope": "graph"}]},
    ]
    for k, (fingerprint, route) in enumerate(((print_a, ""), (print_b, "k=b"))):
        lines += [{"event": "begin", "builder": "native", "route": route},
                  {"event": "trial", "id": k, "builder": "native", "route": route, "outcome": "built", "reason": "",
                   "fingerprint": fingerprint, "seconds": 0.5, "timing_key": fingerprint, "bytes": 100},
                  {"event": "gate", "fingerprint": fingerprint, "outcome": "built", "margin": 0.5, "reason": "",
                   "gate": {}},
                  {"event": "sites", "fingerprint": fingerprint, "sites": [["Conv#0", 10.0, 11.0]]}]
    visit = {"engines": [print_a, print_b], "values": [0.1], "rounds": [[1000, 900], [1000, 910]], "iterations": 4,
             "drops": ["", ""], "orders": [[0, 1], [1, 0]], "readings": []}
    lines += [{"event": "visit", "purpose": purpose, **visit} for purpose in ("screen", "race")]
    seeds.add("study_log", "".join(json.dumps(line) + "\n" for line in lines).encode())
    lines += [{"event": "confirm", "finalists": [print_b], "alpha": 0.05, "margin": 0.01, "affordable": 16, "seed": 7}]
    lines += [{"event": "visit", "purpose": "confirm", **visit}] * 6
    lines += [{"event": "heldout-begin", "fingerprint": print_b}, {"event": "note", "text": "n"},
              {"event": "pruned", "fingerprint": print_b, "route": "k=b"}]
    seeds.add("study_log", "".join(json.dumps(line) + "\n" for line in lines).encode())


def add_engines(seeds: Seeds, program: pathlib.Path, cases: pathlib.Path) -> None:
    for version in (1, 2):
        seeds.add("engine_file", (ROOT / "tests" / "data" / f"engine_v{version}.hwe").read_bytes())
    wanted = ("add", "conv_with_strides_padding", "matmul_2d", "softmax_axis_1", "gather_0", "averagepool_2d_pads",
              "concat_2d_axis_1", "transpose_default", "reduce_sum_keepdims_example", "lstm_defaults", "relu",
              "batchnorm_example", "slice", "pad", "gemm_default_vector_bias", "convtranspose", "split_equal_parts_1d",
              # shapes that depend on values: staged engines
              "nonzero_example", "compress_0", "unique_sorted_without_axis", "nonmaxsuppression_suppress_by_IOU", "if",
              "if_seq", "loop11", "loop13_seq", "scan_sum", "sequence_insert_at_back", "split_to_sequence_1",
              "range_float_type_positive_delta_expanded", "reduce_sum_default_axes_keepdims_random")
    with tempfile.TemporaryDirectory() as folder:
        engine = pathlib.Path(folder) / "e.hwe"
        for name in wanted:
            for model in cases.rglob(f"test_{name}/model.onnx"):
                done = subprocess.run([program, "build", model, "--target", "avx2", "--threads", "1", "-o", engine], capture_output=True)
                if done.returncode == 0:
                    seeds.add("engine_file", engine.read_bytes())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cases", type=pathlib.Path, default=pathlib.Path("/usr/share/libonnx-testdata/data"))
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "headway")
    args = parser.parse_args()
    if not args.cases.is_dir() or not args.program.exists():
        parser.error(f"{args.cases} and {args.program} must be there")
    seeds = Seeds(args.out)
    add_cases(seeds, args.cases)
    add_graphs(seeds)
    add_arrays(seeds)
    add_routes(seeds, args.program)
    add_targets(seeds)
    add_messages(seeds)
    add_profile(seeds)
    add_study(seeds)
    add_engines(seeds, args.program, args.cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
