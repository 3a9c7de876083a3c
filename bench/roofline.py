#!/usr/bin/env python3
"""How far each step of each model is from what the core can do: pages of docs/roofline/CPU.

`headway profile` times the steps of the default engine on one thread, three runs, the median of each step. A step's limit is
the longer of two times: its multiply-adds, as the kernel states those it really executes, at the core's measured peak, and its
bytes, read or written once, at the measured bandwidth of where they live. Constants are read once a call, so they live where
all that is read of constants and the arena of the engine fit; other operands live where those of the step fit. The gap is the time above the
limit. Why a step has one is worked out from its shapes, layouts and kernel; what none of that explains is said to be so.

usage: bench/roofline.py [--models ID,..] [--profiles N] [--iterations N] [--out FOLDER] [--json FILE] [--headway PATH]
                         [--roof PATH]
needs: ninja headway bench_roof; tools/models/fetch.py and make_inputs.py (build/models, build/data); a quiet machine. With
       --json measured profiles are kept in the file, and those in it are not measured again.
"""
import argparse
import collections
import json
import math
import pathlib
import statistics
import sys
import tempfile

from program import ROOT, ask, benchmark_models, sample_of
from step_gaps import Step, explain

RUNS = 3


def cpu_name():
    """Such as amd-zen5, the name of the folders of results."""
    fields = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    vendor, family, model = fields.get("vendor_id", ""), int(fields.get("cpu family", 0)), int(fields.get("model", 0))
    if vendor == "AuthenticAMD":
        # Zen 3 and Zen 4 share a family number.
        zen4 = family == 25 and ("avx512f" in fields.get("flags", "").split())
        return {23: "amd-zen2", 25: "amd-zen4" if zen4 else "amd-zen3", 26: "amd-zen5"}.get(family, f"amd-family{family}")
    return f"{'intel' if vendor == 'GenuineIntel' else 'cpu'}-family{family}-model{model}"


def measure(args, model, profile):
    sample = sample_of(model, profile)
    with tempfile.TemporaryDirectory() as folder:
        engine = f"{folder}/engine.hwe"
        ask([args.headway, "build", ROOT / f"build/models/{model}.onnx", "--data", sample, "--threads", 1, "-o", engine, "--json"])
        command = [args.headway, "profile", engine, "--data", sample, "--json"]
        us = sum(step["us"] for step in ask([*command, "--iterations", 3])["steps"])
        iterations = args.iterations or max(5, min(2000, round(6e5 / max(us, 1))))     # about 0.6 s a run
        runs = [ask([*command, "--iterations", iterations]) for _ in range(RUNS)]
    for number, step in enumerate(runs[0]["steps"]):
        step["us"] = statistics.median(run["steps"][number]["us"] for run in runs)
    return runs[0]


def page(model, profiles, roof):
    lines = [f"# {model}", "",
             f"Made by bench/roofline.py from the default engine on one thread: {roof_text(roof)}.", ""]
    for name, steps in profiles:
        time, limit, gap = (sum(getattr(step, what) for step in steps) for what in ("us", "limit", "gap"))
        lines += [f"## {name}", "", f"{time / 1e3:.3f} ms in {len(steps)} steps; limit {limit / 1e3:.3f} ms "
                  f"({100 * limit / time:.0f} % of the time); sum of gaps {gap / 1e3:.3f} ms.", ""]
        lines += ["| gap us | of all | step | kernel | why |", "|---|---|---|---|---|"]
        for step in sorted(steps, key=lambda step: -step.gap)[:10]:
            lines.append(f"| {step.gap:.1f} | {100 * step.gap / gap:.0f} % | {step.number} `{short(step.site)}` | {step.kernel} | "
                         f"{explain(step, roof)} |")
        lines += ["", "Gaps by kernel: " + ", ".join(f"{kernel} {us:.0f} us" for kernel, us in by_kernel(steps)) + ".", ""]
    lines += ["## Every step", ""]
    for name, steps in profiles:
        lines += [f"### {name}", "", "| step | site | kernel | output | us | MFLOP | KB | limit us | by | gap us |",
                  "|---|---|---|---|---|---|---|---|---|---|"]
        lines += [f"| {step.number} | `{short(step.site)}` | {step.kernel} | {step.output} | {step.us:.1f} | {step.flops / 1e6:.2f} | "
                  f"{step.bytes / 1e3:.1f} | {step.limit:.1f} | {step.by} | {step.gap:.1f} |" for step in steps]
        lines.append("")
    return "\n".join(lines)


def short(site):
    """The first of the names that an exporter has joined, and its end when that is long."""
    first = site.split(";")[0]
    return first if len(first) <= 60 else "..." + first[-57:]


def by_kernel(steps):
    sums = collections.Counter()
    for step in steps:
        sums[step.kernel] += step.gap
    return sums.most_common(6)


def roof_text(roof):
    levels = ", ".join(f"{level['name']} {level['read_gb_per_s']:.0f} read and {level['copy_gb_per_s']:.0f} copied"
                       for level in roof["levels"])
    return f"peak {roof['peak_gflops']:.0f} GFLOP/s; GB/s: {levels}"


def overview(cells, roof, cpu):
    lines = [f"# Roofline of {cpu}", "",
             "Time of the default engine on one thread, the least that its multiply-adds and bytes would take (see bench/roofline.py), and "
             "the kernels that lose most of the difference.", "", f"The core: {roof_text(roof)}.", "",
             "| model | profile | ms | limit ms | limit/time | sum of gaps ms | largest gaps |", "|---|---|---|---|---|---|---|"]
    shares = []
    for model, profiles in cells.items():
        for name, steps in profiles:
            time, limit, gap = (sum(getattr(step, what) for step in steps) for what in ("us", "limit", "gap"))
            shares.append(limit / time)
            worst = ", ".join(f"{kernel} {100 * us / gap:.0f} %" for kernel, us in by_kernel(steps)[:3])
            lines.append(f"| [{model}]({model}.md) | {name} | {time / 1e3:.3f} | {limit / 1e3:.3f} | {100 * limit / time:.0f} % | "
                         f"{gap / 1e3:.3f} | {worst} |")
    mean = math.exp(sum(map(math.log, shares)) / len(shares))
    return "\n".join([*lines, "", f"Geometric mean of limit over time: {100 * mean:.0f} %.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--profiles", type=int, default=99, help="only so many of each model")
    parser.add_argument("--iterations", type=int, default=0, help="of a run; default: what takes about 0.6 s")
    parser.add_argument("--out", type=pathlib.Path, help="default: docs/roofline/CPU")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--roof", default=str(ROOT / "build/release/bench/kernels/bench_roof"))
    args = parser.parse_args()
    cpu = cpu_name()
    out = args.out or ROOT / "docs/roofline" / cpu
    known = json.loads(args.json.read_text()) if args.json and args.json.exists() else {"cpu": cpu, "roof": None, "profiles": {}}
    if known["cpu"] != cpu:
        sys.exit(f"roofline: {args.json} is of {known['cpu']}, this is {cpu}")
    known["roof"] = known["roof"] or ask([args.roof])
    cells = {}
    for model in benchmark_models(args.models):
        profiles = []
        for profile in model["profiles"][:args.profiles]:
            key = f"{model['id']} {profile['name']}"
            if key not in known["profiles"]:
                known["profiles"][key] = measure(args, model["id"], profile["name"])
                if args.json:
                    args.json.write_text(json.dumps(known) + "\n")
                print(key, file=sys.stderr, flush=True)
            facts = known["profiles"][key]
            # Of a table only the rows that are picked are read.
            held = 1e6 * (facts["arena_mbytes"] + sum(min(step["constant_mbytes"], step["mbytes"]) for step in facts["steps"]))
            profiles.append((profile["name"], [Step(step, held, known["roof"]) for step in facts["steps"]]))
        cells[model["id"]] = profiles
    out.mkdir(parents=True, exist_ok=True)
    for model, profiles in cells.items():
        (out / f"{model}.md").write_text(page(model, profiles, known["roof"]))
    text = overview(cells, known["roof"], cpu)
    (out / "README.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
