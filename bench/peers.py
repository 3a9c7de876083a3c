#!/usr/bin/env python3
"""Headway beside ONNX Runtime (and OpenVINO) on the benchmark models: one interleaved run, fresh processes.

For each model, profile and thread count: VISITS times, one new process per runtime, started in random order; within a
visit the processes take turns, ROUNDS blocks each, one at a time. The value of a visit is the median of its paired
log ratios; the table gives the geometric mean over visits with a t interval at 95 %. fp32 everywhere, one call at a
time, inputs and outputs in the caller's buffers.

usage: bench/peers.py [--models ID,..] [--profiles NAME,..] [--threads 1,2] [--peers ort,openvino] [--visits N]
                      [--headway PATH] [--route TEXT] [--engine FILE] [--json FILE]
needs: tools/bootstrap --peers, tools/models/fetch.py and make_inputs.py (build/models, build/data)
"""
import argparse
import json
import math
import os
import pathlib
import platform
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ONNX_TYPES = {1: "float32", 6: "int32", 7: "int64"}
# Two-sided 95 % points of Student's t for 1.. degrees of freedom.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


# ---- one runtime in a process of its own ------------------------------------------------------------------------
def read_tensor(path):
    """The TensorProto files that make_inputs.py writes: dims, data_type, name, raw_data."""
    import numpy as np
    data, at, dims, kind, raw = path.read_bytes(), 0, [], None, b""

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
            if tag >> 3 == 1:
                dims.append(value)
            else:
                kind = value
        else:
            length = varint()
            if tag >> 3 == 9:
                raw = data[at:at + length]
            at += length
    return np.frombuffer(raw, ONNX_TYPES[kind]).reshape(dims).copy()


def sample_inputs(folder):
    return [read_tensor(folder / f"input_{k}.pb") for k in range(len(list(folder.glob("input_*.pb"))))]


def ort_call(model, sample, threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for port, value in zip(session.get_inputs(), sample_inputs(sample)):
        binding.bind_ortvalue_input(port.name, ort.OrtValue.ortvalue_from_numpy(value))
    for port in session.get_outputs():
        binding.bind_output(port.name)
    session.run_with_iobinding(binding)
    outputs = binding.get_outputs()
    for port, value in zip(session.get_outputs(), outputs):
        binding.bind_ortvalue_output(port.name, value)
    return lambda: session.run_with_iobinding(binding)


def openvino_call(model, sample, threads):
    import openvino as ov
    core = ov.Core()
    network = core.read_model(str(model))
    inputs = sample_inputs(sample)
    network.reshape({port: list(value.shape) for port, value in zip(network.inputs, inputs)})
    compiled = core.compile_model(network, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
                                                   "INFERENCE_NUM_THREADS": threads})
    request = compiled.create_infer_request()
    for k, value in enumerate(inputs):
        request.set_input_tensor(k, ov.Tensor(value))
    return lambda: request.infer(share_outputs=True)


def child(runtime, model, sample, threads):
    call = {"ort": ort_call, "openvino": openvino_call}[runtime](pathlib.Path(model), pathlib.Path(sample), int(threads))
    print("ready", flush=True)
    for line in sys.stdin:
        iterations = int(line)
        begin = time.perf_counter_ns()
        for _ in range(iterations):
            call()
        print(time.perf_counter_ns() - begin, flush=True)


class Peer:
    def __init__(self, runtime, model, sample, threads):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), PADDING="x" * random.randrange(4096))
        self.process = subprocess.Popen([sys.executable, __file__, "--child", runtime, str(model), str(sample), str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env=environment)
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{runtime} cannot run {model}")

    def block(self, iterations):
        self.process.stdin.write(f"{iterations}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) / iterations

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Headway:
    """A `headway worker`: the same process that the tuner times."""

    def __init__(self, program, model, sample, threads, engine):
        environment = dict(os.environ, PADDING="x" * random.randrange(4096))
        self.scratch = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.count, self.engine = 0, str(engine)
        self.ask(cmd="hello", protocol=1, scratch=self.scratch.name)
        self.ask(cmd="open", model=str(model), target="native", threads=threads, timing_data=str(sample), shapes=[], values=[])
        self.ask(cmd="load", engine=self.engine)

    def ask(self, **request):
        self.count += 1
        self.process.stdin.write(json.dumps({"id": self.count, "deadline_s": 300, **request}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline() or '{"failure": "ended", "reason": "worker ended"}')
        if "failure" in reply:
            raise RuntimeError(f"headway: {reply['reason']}")
        return reply

    def block(self, iterations):
        reply = self.ask(cmd="block", engine=self.engine, iterations=iterations, preroll=0, per_iteration=False)
        return reply["ns"][0] / iterations

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.scratch.cleanup()


# ---- the experiment ---------------------------------------------------------------------------------------------
def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def visit(starters, rounds, block_ns, settle_s):
    """Median nanoseconds a call of each runtime, and the per-round log ratios against the first."""
    order = list(starters)
    random.shuffle(order)
    running = {}
    try:
        for name in order:
            running[name] = starters[name]()
        slowest = 0
        for name in order:                      # warm up: at least 0.2 s and three calls
            calls, spent = 0, 0
            while spent < 0.2e9 or calls < 3:
                once = running[name].block(1)
                calls, spent = calls + 1, spent + once
            slowest = max(slowest, once)
        iterations = max(1, int(block_ns / slowest))
        times = {name: [] for name in starters}
        for _ in range(rounds):
            random.shuffle(order)
            for name in order:
                time.sleep(settle_s)            # idle threads of the other runtime spin on after its last call
                running[name].block(1)          # the other engine owned the caches
                times[name].append(running[name].block(iterations))
    finally:
        for runtime in running.values():
            runtime.close()
    return times


def interval(values):
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, mean, mean
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    half = T95[min(len(values) - 2, len(T95) - 1)] * deviation / math.sqrt(len(values))
    return mean, mean - half, mean + half


def measure(args, model, profile, threads):
    name = model["id"]
    path = args.model_folder / f"{name}.onnx"
    sample = args.data_folder / name / profile["name"] / "tuning" / "test_data_set_0"
    engine = args.engine or pathlib.Path(args.scratch) / f"{name}-{profile['name']}-{threads}.hwe"
    if not args.engine:
        built = subprocess.run([args.headway, "build", str(path), "--data", str(sample), "--threads", str(threads), "-o",
                                str(engine), "--route", args.route, "--json"], capture_output=True, text=True)
        if built.returncode != 0:
            raise RuntimeError(built.stderr.strip())
    starters = {"headway": lambda: Headway(args.headway, path, sample, threads, engine)}
    for peer in args.peers:
        starters[peer] = lambda peer=peer: Peer(peer, path, sample, threads)
    visits = []
    for _ in range(args.visits):
        try:
            visits.append(visit(starters, args.rounds, args.block_ms * 1e6, args.settle_ms / 1e3))
        except RuntimeError as error:
            lost = [peer for peer in args.peers if str(error).startswith(peer)]
            if not lost:
                raise
            starters.pop(lost[0])               # a peer that cannot run this model leaves the table
            visits.append(visit(starters, args.rounds, args.block_ms * 1e6, args.settle_ms / 1e3))
    row = {"model": name, "profile": profile["name"], "threads": threads,
           "headway_ms": median([median(v["headway"]) for v in visits]) / 1e6}
    for peer in list(starters)[1:]:
        logs = [median([math.log(p / h) for p, h in zip(v[peer], v["headway"])]) for v in visits if peer in v]
        row[peer] = {"ms": median([median(v[peer]) for v in visits if peer in v]) / 1e6,
                     "speedup": [math.exp(x) for x in interval(logs)]}
    return row


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models")
    parser.add_argument("--profiles")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--peers", default="ort", type=lambda text: text.split(","))
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--block-ms", type=float, default=60)
    parser.add_argument("--settle-ms", type=float, default=250, help="pause before each block, for spinning threads to park")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--route", default="")
    parser.add_argument("--engine", type=pathlib.Path, help="a tuned engine instead of a built one; needs one model, profile and thread count")
    parser.add_argument("--model-folder", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--data-folder", type=pathlib.Path, default=ROOT / "build/data")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    table = json.loads((ROOT / "tools/models/models.json").read_text())["models"]
    rows = []
    print(f"CPU: {cpu_name()}; speed-up = time of the peer over time of Headway, geometric mean [95 % interval]")
    with tempfile.TemporaryDirectory() as args.scratch:
        for model in table:
            if args.models and model["id"] not in args.models.split(","):
                continue
            for profile in model["profiles"]:
                if args.profiles and profile["name"] not in args.profiles.split(","):
                    continue
                for threads in map(int, args.threads.split(",")):
                    row = measure(args, model, profile, threads)
                    rows.append(row)
                    text = f"{row['model']:14} {row['profile']:11} {threads}T  headway {row['headway_ms']:9.3f} ms"
                    for peer in args.peers:
                        if peer in row:
                            mean, low, high = row[peer]["speedup"]
                            text += f"  {peer} {row[peer]['ms']:9.3f} ms {mean:5.2f}x [{low:.2f}, {high:.2f}]"
                        else:
                            text += f"  {peer} cannot run it"
                    print(text, flush=True)
    for peer in args.peers:
        for threads in map(int, args.threads.split(",")):
            logs = [math.log(r[peer]["speedup"][0]) for r in rows if peer in r and r["threads"] == threads]
            if logs:
                print(f"geometric mean over {peer}, {threads}T: {math.exp(sum(logs) / len(logs)):.2f}x of {len(logs)}")
    if args.json:
        args.json.write_text(json.dumps({"cpu": cpu_name(), "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
