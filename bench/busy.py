#!/usr/bin/env python3
"""What a second thread costs when another process keeps a core busy: 2 threads against 1, beside a process that spins.

Both engines of a model live in one worker and run blocks in turn, first alone and then beside the spinning process, so that
a change of the machine's speed meets both. The figure is the time of 2 threads over that of 1: beside a neighbour it must
not be above --most on any model, because nobody chooses his neighbours. p95 is the ratio of the slow blocks.

usage: bench/busy.py [--models ID,..] [--profile-index K] [--rounds N] [--block-ms MS] [--most RATIO] [--headway PATH]
                     [--route R] [--json FILE]
needs: two cores; tools/models/fetch.py and make_inputs.py (build/models, build/data)
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from program import ROOT, Worker, benchmark_models, sample_of

SPIN = "while True: pass"


@contextlib.contextmanager
def neighbour():
    other = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        yield
    finally:
        other.kill()
        other.wait()


class Engine:
    def __init__(self, args, folder, model, sample, threads):
        self.worker, self.path = Worker(args.headway, folder), f"{folder}/{threads}.hwe"
        self.worker.open(ROOT / f"build/models/{model}.onnx", threads, sample)
        self.worker.build(args.route, self.path)
        self.worker.load(self.path)
        seconds = min(self.worker.block(self.path, 2) for _ in range(3))
        self.iterations = max(1, round(args.block_ms / 1e3 / seconds))

    def block(self):
        return self.worker.block(self.path, self.iterations)


def ratios(one, two, rounds):
    """Times of a block of each, in turn; the one that begins alternates."""
    times = ([], [])
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            times[which].append((one, two)[which].block())
    p95 = [sorted(side)[int(0.95 * (len(side) - 1))] for side in times]
    return {"ms": [1e3 * statistics.median(side) for side in times], "ratio": sum(times[1]) / sum(times[0]),
            "p95_ratio": p95[1] / p95[0]}


def measure(args, model, profile):
    sample = sample_of(model, profile)
    with tempfile.TemporaryDirectory() as folder:
        one, two = (Engine(args, folder, model, sample, threads) for threads in (1, 2))
        try:
            alone = ratios(one, two, args.rounds)
            with neighbour():
                busy = ratios(one, two, args.rounds)
        finally:
            one.worker.end()
            two.worker.end()
    return {"model": model, "profile": profile, "alone": alone, "busy": busy}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--profile-index", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--block-ms", type=float, default=25)
    parser.add_argument("--most", type=float, default=1.2, help="largest ratio that passes")
    parser.add_argument("--route", default="")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    print(f"{'model':14} {'profile':12} {'1 thread':>10} {'2 threads':>10} {'2/1':>6}   beside a busy process:"
          f"{'1 thread':>10} {'2 threads':>10} {'2/1':>6} {'p95':>6}")
    cells = []
    for model in benchmark_models(args.models):
        profile = model["profiles"][min(args.profile_index, len(model["profiles"]) - 1)]["name"]
        cells.append(measure(args, model["id"], profile))
        alone, busy = cells[-1]["alone"], cells[-1]["busy"]
        print(f"{model['id']:14} {profile:12} {alone['ms'][0]:8.3f}ms {alone['ms'][1]:8.3f}ms {alone['ratio']:6.2f} "
              f"{'':24}{busy['ms'][0]:8.3f}ms {busy['ms'][1]:8.3f}ms {busy['ratio']:6.2f} {busy['p95_ratio']:6.2f}", flush=True)
    over = [cell["model"] for cell in cells if cell["busy"]["ratio"] > args.most]
    worst = max((cell["busy"]["ratio"] for cell in cells), default=0)
    print(f"worst ratio beside a busy process {worst:.2f}; above {args.most}: {', '.join(over) or 'none'}")
    if args.json:
        args.json.write_text(json.dumps(cells, indent=1) + "\n")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
