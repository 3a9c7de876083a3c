#!/usr/bin/env python3
"""Whether `headway bench` tells the truth on this machine, about pairs of engines of which the truth is known.

  aa    an engine against its byte copy: any claim is false
  slow  an engine made 3 % slower on purpose against its twin: it should be called SLOWER
  busy  an engine against its byte copy while another process keeps one core busy: no claim, and guards say why

Each bench takes about 15 s with the default model. Results are kept in OUT/JOB.json and a job goes on where it stopped;
the summary is printed at the end and after Ctrl-C. Keep the machine quiet meanwhile.

usage: bench/honesty.py aa|slow|busy [...] [--runs 20] [--model FILE.onnx] [--data DIR] [--threads N] [--margin PERCENT]
                        [--out DIR]
needs: tools/build release headway headway_slowed; tools/models/fetch.py and make_inputs.py for the default model
"""
import argparse
import collections
import contextlib
import json
import math
import pathlib
import shutil
import subprocess
import sys

from program import ask

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLAIMS = ("FASTER", "SLOWER")
SPIN = "while True: pass"


def bounds(hits, trials, confidence=0.95):
    """One-sided Clopper-Pearson bounds of a proportion."""
    def at_least(p, k):
        return sum(math.comb(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(k, trials + 1))

    def solve(target, k):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if at_least(middle, k) < target else (low, middle)
        return low

    lower = solve(1 - confidence, hits) if hits > 0 else 0.0
    upper = solve(confidence, hits + 1) if hits < trials else 1.0
    return lower, upper


@contextlib.contextmanager
def busy_core():
    other = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        yield
    finally:
        other.kill()
        other.wait()


class Pair:
    """An engine and its byte copy; both are built once and kept beside the results."""

    def __init__(self, args):
        self.args = args
        self.engine, self.copy = args.out / "engine.hwe", args.out / "copy.hwe"
        self.options = ["--threads", args.threads, "--data", args.data]
        ask([args.headway, "build", args.model, "-o", self.engine, "--json", *self.options])
        shutil.copyfile(self.engine, self.copy)

    def bench(self, job, seed):
        program = self.args.slowed if job == "slow" else self.args.headway
        subject = f"slowed:{self.engine}" if job == "slow" else self.engine
        with busy_core() if job == "busy" else contextlib.nullcontext():
            return ask([program, "bench", subject, "--against", self.copy, "--margin", self.args.margin, "--seed", seed,
                        "--json", *self.options])


def facts(args, machine):
    return {"model": args.model.name, "threads": args.threads, "margin_percent": args.margin, "cpu": machine["cpu"]}


def run_job(job, pair, args):
    file = args.out / f"{job}.json"
    results = json.loads(file.read_text()) if file.exists() else {"job": job, "facts": None, "runs": []}
    while len(results["runs"]) < args.runs:
        seed = len(results["runs"]) + 1
        found = pair.bench(job, seed)
        now = facts(args, found["machine"])
        if results["facts"] not in (None, now):
            sys.exit(f"{file} holds results of {results['facts']}, now it is {now}; give another --out")
        results["facts"] = now
        comparison = found["comparisons"][0]
        kept = {name: comparison[name] for name in ("verdict", "why", "speedup", "low", "high", "resolution")}
        results["runs"].append({"seed": seed, **kept, "guards": found["guards"]})
        part = file.with_suffix(".part")
        part.write_text(json.dumps(results, indent=1) + "\n")
        part.replace(file)
        print(f"{job} {seed}/{args.runs}: {kept['verdict']} {kept['speedup']:.4f}x [{kept['low']:.4f}, {kept['high']:.4f}] "
              f"resolution {100 * kept['resolution']:.2f} %", flush=True)
    return results


def summary(results):
    runs = results["runs"]
    if not runs:
        return f"{results['job']}: nothing was run"
    wanted = ("SLOWER",) if results["job"] == "slow" else CLAIMS
    hits = sum(r["verdict"] in wanted for r in runs)
    lower, upper = bounds(hits, len(runs))
    what = "say SLOWER" if results["job"] == "slow" else "claim a difference between equal engines"
    fired = collections.Counter()
    for r in runs:
        fired.update(r["guards"]["fired"])
    verdicts = ", ".join(f"{n} {v}" for v, n in sorted(collections.Counter(r["verdict"] for r in runs).items()))
    mean = math.exp(sum(math.log(r["speedup"]) for r in runs) / len(runs))
    dropped = sum(r["guards"]["dropped"] for r in runs) / max(1, sum(r["guards"]["rounds"] for r in runs))
    named = ", ".join(f"{guard} {n}" for guard, n in fired.most_common()) or "none"
    return (f"{results['job']}: {hits} of {len(runs)} benches {what} (95 % bounds {100 * lower:.1f} to {100 * upper:.1f} %); "
            f"{verdicts}; mean {mean:.4f}x; {100 * dropped:.0f} % of the rounds dropped; guards: {named}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="+", choices=("aa", "slow", "busy"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "build/models/magika.onnx")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "build/data/magika/b1/tuning",
                        help="whose first sample is timed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--margin", type=float, default=0.5, help="percent")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/honesty")
    parser.add_argument("--headway", type=pathlib.Path, default=ROOT / "build/release/headway")
    parser.add_argument("--slowed", type=pathlib.Path, default=ROOT / "build/release/headway_slowed")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    pair = Pair(args)
    with contextlib.suppress(KeyboardInterrupt):
        for job in args.jobs:
            run_job(job, pair, args)
    for job in args.jobs:
        file = args.out / f"{job}.json"
        if file.exists():
            print(summary(json.loads(file.read_text())))


if __name__ == "__main__":
    main()
