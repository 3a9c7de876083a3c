#!/usr/bin/env python3
"""How near one call comes to the time in which its weights can be read at all: for decode steps, which multiply each weight once.

Rounds alternate between `headway profile` on one thread and reading a buffer of the weights' size (bench_roof BYTES), so that both
see the same neighbours. The weights are the packed constants of all steps but Gather, which reads rows of its table.

usage: bench/decode.py MODEL [--shape NAME=DIMS ..] [--rounds N] [--headway PATH] [--json FILE]
needs: ninja headway bench_roof; a quiet machine
e.g. of a decoder with a cache: --shape ids=1x1 --shape past_k0=1x8x127x64 ..
"""
import argparse
import json
import pathlib
import statistics
import subprocess

from peers import T95
from program import ROOT, ask


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=DIMS")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    roof = pathlib.Path(args.headway).parent / "bench/kernels/bench_roof"
    shapes = [word for shape in args.shape for word in ("--shape", shape)]
    rows = []
    for _ in range(args.rounds):
        facts = ask([args.headway, "profile", args.model, *shapes, "--threads", 1, "--iterations", 20, "--json"])
        us = sum(step["us"] for step in facts["steps"])
        weights = sum(step["constant_mbytes"] for step in facts["steps"] if step["op"] != "Gather")
        read = json.loads(subprocess.run([roof, str(int(weights * 1e6))], check=True, capture_output=True, text=True).stdout)
        rows.append({"us": us, "weights_mb": weights, "read_gb_per_s": read["read_gb_per_s"],
                     "share": weights * 1e3 / us / read["read_gb_per_s"]})
    shares = [row["share"] for row in rows]
    half = T95[min(len(shares), len(T95) + 1) - 2] * statistics.stdev(shares) / len(shares) ** 0.5 if len(shares) > 1 else 0
    middle = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    low, high = statistics.mean(shares) - half, statistics.mean(shares) + half
    print(f"{args.model.name}: {middle['us']:.0f} us for {middle['weights_mb']:.1f} MB of weights, which can be read at "
          f"{middle['read_gb_per_s']:.1f} GB/s: {100 * statistics.mean(shares):.0f} % of that [{100 * low:.0f}, {100 * high:.0f}], "
          f"{len(rows)} rounds")
    if args.json:
        args.json.write_text(json.dumps({"model": str(args.model), "rounds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
