#!/usr/bin/env python3
"""Whether the cost model picks the fastest algorithm at each site: forces every value of the algorithm knobs alone,
profiles all engines in turns, and compares each site's steps.

Prints, for each site where another value is faster by more than --least: what the default runs and its time, the best
other value, what that runs and its time; then the sum that a perfect choice would save. Reorders that a value adds or
drops count at the site of the step they stand before; those of a lone site may be shared by a whole run of sites, so each
value's whole engine stands there too.

usage: bench/choices.py MODEL [--data DIR | --shape NAME=AxB ..] [--knobs NAME,..] [--threads N] [--rounds N]
                        [--iterations N] [--least PERCENT] [--headway PATH] [--json FILE]
"""
import argparse
import collections
import json
import pathlib
import statistics
import tempfile

from program import ask, try_ask

ROOT = pathlib.Path(__file__).resolve().parent.parent


def routes_of(headway, names):
    knobs = {knob["name"]: knob["values"] for knob in ask([headway, "knobs", "--json"])}
    return [""] + [f"{name}={value}" for name in names for value in knobs[name][1:]]


def build_all(args, routes, bound, folder):
    """route -> engine, of those that build and do something else than the ones before."""
    engines, seen = {}, set()
    for index, route in enumerate(routes):
        engine = f"{folder}/{index}.hwe"
        facts, reason = try_ask([args.headway, "build", args.model, "-o", engine, "--route", route, *bound, "--json"])
        if facts is None:
            print(f"{route}: {reason}")
        elif facts["fingerprint"] not in seen:
            seen.add(facts["fingerprint"])
            engines[route] = engine
    return engines


def by_site(steps):
    """site -> [us, kernels]: the step that computes it, and the reorders before it."""
    sites, reorders = {}, 0.0
    for step in steps:
        if step["kernel"].startswith("reorder"):
            reorders += step["us"]
            continue
        entry = sites.setdefault(step["site"], [0.0, []])
        entry[0] += step["us"] + reorders
        entry[1].append(step["kernel"] + ("+reorder" if reorders else ""))
        reorders = 0.0
    return {site: (us, " ".join(kernels)) for site, (us, kernels) in sites.items()}


def measure(args, engines, data):
    """route -> site -> (median us over the rounds, kernels); "" is the default."""
    runs = {route: [] for route in engines}
    for _ in range(args.rounds):
        for route, engine in engines.items():
            facts = ask([args.headway, "profile", engine, *data, "--iterations", str(args.iterations), "--json"])
            runs[route].append(by_site(facts["steps"]))
    return {route: {site: (statistics.median(run[site][0] for run in rounds), rounds[0][site][1]) for site in rounds[0]}
            for route, rounds in runs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--data", help="default: generated inputs")
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--value", action="append", default=[])
    parser.add_argument("--knobs", default="conv.algorithm,matmul.algorithm,deconv.algorithm")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--least", type=float, default=5, help="percent of the default's time at a site")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    data = ["--data", args.data] if args.data else []
    bound = [*data, "--threads", args.threads, *(w for s in args.shape for w in ("--shape", s)),
             *(w for v in args.value for w in ("--value", v))]
    with tempfile.TemporaryDirectory() as folder:
        engines = build_all(args, routes_of(args.headway, args.knobs.split(",")), bound, folder)
        times = measure(args, engines, data)
    default = times[""]
    saved, rows = 0.0, []
    for site, (us, kernels) in default.items():
        others = [(times[route][site][0], route, times[route][site][1]) for route in times
                  if route and times[route].get(site, (0, kernels))[1] != kernels]
        if not others:
            continue
        best_us, route, best_kernels = min(others)
        if best_us < us * (1 - args.least / 100):
            saved += us - best_us
            rows.append({"site": site, "us": us, "kernels": kernels, "best": route, "best_us": best_us,
                         "best_kernels": best_kernels})
    total = sum(us for us, _ in default.values())
    for row in sorted(rows, key=lambda row: row["best_us"] - row["us"]):
        print(f"{row['us'] - row['best_us']:8.1f} us  {row['us']:8.1f} {row['kernels']:38} -> {row['best_us']:8.1f} {row['best_kernels']:38} {row['site']}")
    print(f"{total / 1e3:.3f} ms; the best value of each site would save {saved / 1e3:.3f} ms ({100 * saved / total:.1f} %)")
    by_kernel = collections.Counter()
    for us, kernels in default.values():
        by_kernel[kernels.split()[0]] += us
    print("by kernel: " + ", ".join(f"{kernel} {us / 1e3:.3f}" for kernel, us in by_kernel.most_common(12)))
    whole = {route: sum(us for us, _ in sites.values()) for route, sites in times.items()}
    print("whole engines: " + ", ".join(f"{route or 'default'} {us / 1e3:.3f}" for route, us in sorted(whole.items(), key=lambda item: item[1])))
    if args.json:
        args.json.write_text(json.dumps({"model": args.model, "total_us": total, "saved_us": saved, "sites": rows, "whole_us": whole}, indent=1) + "\n")


if __name__ == "__main__":
    main()
