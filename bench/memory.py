#!/usr/bin/env python3
"""Peak memory and build time of Headway, ONNX Runtime and OpenVINO on the benchmark models, each at its default settings.

A worker process of the builder builds an engine file. A fresh one loads that file, runs it ten times on the sample and is
asked for its largest resident set (VmHWM) before it is ended; pages of mapped files count. Headway opens the engine file
alone; the other two read the model, which is what their engines are. Memory does not depend on how busy the machine is,
build time (import included) does.

usage: bench/memory.py [--models ID,..] [--threads N] [--first-profile] [--builders native,onnxruntime,openvino]
                       [--headway PATH] [--json FILE]
needs: tools/models/fetch.py and make_inputs.py (build/models, build/data), ONNX Runtime and OpenVINO in .venv
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

from program import ROOT, Worker, WorkerFailure, benchmark_models, sample_of

# What a user compares: OpenVINO's own default computes in bf16 where the CPU can.
ROUTES = {"openvino": "format.precision=f32"}


def measure(args, builder, model, sample):
    with tempfile.TemporaryDirectory() as folder:
        engine = f"{folder}/engine"
        begin = time.monotonic()
        with Worker(args.headway, folder, builder) as worker:
            worker.open(model, args.threads, sample)
            worker.build(ROUTES.get(builder, ""), engine)
            seconds = time.monotonic() - begin
        with Worker(args.headway, folder, builder) as worker:
            worker.open(engine if builder == "native" else model, args.threads, sample)
            worker.load(engine)
            worker.block(engine, 10)
            return {"peak_mib": worker.peak_mib(), "build_s": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--first-profile", action="store_true", help="only the first profile of each model")
    parser.add_argument("--builders", default="native,onnxruntime,openvino")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    builders, cells, over, compared = args.builders.split(","), [], [], 0
    print(f"{'model':14} {'profile':12} " + " ".join(f"{b + ' MiB':>16} {'build s':>8}" for b in builders))
    for model in benchmark_models(args.models):
        for profile in model["profiles"][:1] if args.first_profile else model["profiles"]:
            sample = sample_of(model["id"], profile["name"])
            cell = {"model": model["id"], "profile": profile["name"], "threads": args.threads}
            for builder in builders:
                try:
                    cell[builder] = measure(args, builder, ROOT / f"build/models/{model['id']}.onnx", sample)
                except WorkerFailure as error:
                    cell[builder] = {"failure": str(error)}
            cells.append(cell)
            peaks = {b: cell[b]["peak_mib"] for b in builders if "peak_mib" in cell[b]}
            others = [peak for b, peak in peaks.items() if b != "native"]
            compared += int("native" in peaks and bool(others))
            if others and peaks.get("native", 0) > min(others):
                over.append(f"{model['id']} {profile['name']}: {peaks['native']:.0f} MiB against {min(others):.0f}")
            print(f"{model['id']:14} {profile['name']:12} " + " ".join(
                f"{cell[b]['peak_mib']:16.1f} {cell[b]['build_s']:8.2f}" if "peak_mib" in cell[b] else f"{'fails':>16} {'':8}"
                for b in builders), flush=True)
    slowest = max((c["native"]["build_s"] for c in cells if "build_s" in c.get("native", {})), default=0)
    print(f"slowest default build of native: {slowest:.2f} s")
    print(f"above the better peer in {len(over)} of {compared} compared cells" + "".join(f"\n  {line}" for line in over))
    if args.json:
        args.json.write_text(json.dumps(cells, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
