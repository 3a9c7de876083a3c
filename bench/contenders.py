#!/usr/bin/env python3
"""Runtimes as bench/peers.py times them: each in a process of its own that answers "run N calls" with nanoseconds.

All are fp32, make one call at a time and use the same buffers for inputs and outputs in every call. A contender that
cannot run the model raises Fails with the reason.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ONNX_TYPES = {1: "float32", 6: "int32", 7: "int64"}
PEERS = {"ort": "onnxruntime", "openvino": "openvino"}  # name -> Python package


class Fails(RuntimeError):
    def __init__(self, name, reason):
        super().__init__(f"{name}: {reason}")
        self.name, self.reason = name, reason


# ---- what runs in the peer's process ----------------------------------------------------------------------------
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
    request.infer()
    # start and wait: infer() would wrap the outputs in Python objects at each call
    return lambda: (request.start_async(), request.wait())


def serve(runtime, model, sample, threads):
    protocol = os.fdopen(os.dup(1), "w")    # what a runtime prints must not answer for it
    os.dup2(2, 1)
    try:
        call = {"ort": ort_call, "openvino": openvino_call}[runtime](pathlib.Path(model), pathlib.Path(sample), int(threads))
        call()
        print("ready", file=protocol, flush=True)
    except Exception as error:              # whatever a runtime throws is its reason
        print(" ".join(f"{type(error).__name__}: {error}".split())[:400], file=protocol, flush=True)
        return
    for line in sys.stdin:
        iterations = int(line)
        begin = time.perf_counter_ns()
        for _ in range(iterations):
            call()
        print(time.perf_counter_ns() - begin, file=protocol, flush=True)


# ---- what runs in the experiment's process ----------------------------------------------------------------------
def padded_environment(**more):
    """Another memory layout for each process, so that no contender is lucky all the time."""
    return dict(os.environ, PADDING="x" * random.randrange(4096), **more)


class Peer:
    def __init__(self, runtime, model, sample, threads):
        self.name = runtime
        self.process = subprocess.Popen([sys.executable, __file__, runtime, str(model), str(sample), str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env=padded_environment(OMP_NUM_THREADS=str(threads)))
        reply = self.process.stdout.readline().strip()
        if reply != "ready":
            self.fail(reply)

    def fail(self, reason):
        self.close()
        raise Fails(self.name, reason or f"its process ended with code {self.process.returncode}")

    def block(self, iterations):
        try:
            self.process.stdin.write(f"{iterations}\n")
            self.process.stdin.flush()
            return int(self.process.stdout.readline()) / iterations
        except (BrokenPipeError, ValueError):
            self.fail("")

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


class Headway:
    """A `headway worker`: the same process that the tuner times."""

    def __init__(self, name, program, model, sample, threads, engine):
        self.name, self.count, self.engine = name, 0, str(engine)
        self.scratch = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=padded_environment())
        self.ask(cmd="hello", protocol=2, scratch=self.scratch.name)
        self.ask(cmd="open", model=str(model), target="native", threads=threads, timing_data=str(sample), shapes=[], values=[], variants=[])
        self.ask(cmd="load", engine=self.engine, streams=1)

    def ask(self, **request):
        self.count += 1
        try:
            self.process.stdin.write(json.dumps({"id": self.count, "deadline_s": 300, **request}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        reply = json.loads(line or '{"failure": "ended", "reason": "its process ended"}')
        if "failure" in reply:
            self.close()
            raise Fails(self.name, reply["reason"])
        return reply

    def block(self, iterations):
        reply = self.ask(cmd="block", engine=self.engine, iterations=iterations, preroll=0, streams=1,
                         per_iteration=False, cold=False)
        return reply["ns"][0] / iterations

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
        self.scratch.cleanup()


if __name__ == "__main__":
    serve(*sys.argv[1:])
