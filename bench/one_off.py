#!/usr/bin/env python3
"""What every knob value does to every model when it alone is changed: winners and losers of each knob.

For a model, a profile and a thread count, a worker builds each value of each knob alone. Values that give the default's
fingerprint change nothing; values that share a fingerprint share one engine. Every distinct engine meets the default in
`headway bench` (fresh processes, interleaved); what is more than --screen per cent off there is timed once more, longer, and
only that second bench counts, so that the winner's luck is not in the figures. One that the guards call unstable does not count, and
is repeated when the same command runs again; with --count-unstable it counts by the rounds that were left. Values whose numerics are `reduced` are marked:
they buy time with bits.

Results are kept in --json after each bench, and a run with the same file goes on where it stopped, after Ctrl-C or
--budget as well. The tables are printed at the end, and without measuring with --tables.

usage: bench/one_off.py --json FILE [--models ID,..] [--profile-index K] [--threads N] [--knobs GLOB,..] [--budget SECONDS]
                        [--group N] [--headway PATH] [--tables]
needs: tools/models/fetch.py and make_inputs.py (build/models, build/data)
"""
import argparse
import collections
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from program import ROOT, Worker, WorkerFailure, ask, benchmark_models, sample_of, sha256

FIRST = {"visits": 2, "rounds": 4}      # finds what to look at
SECOND = {"visits": 6, "rounds": 4}     # what counts


class OutOfBudget(Exception):
    pass


class Results:
    """Cells by "model profile threads": values by fingerprint, and for each fingerprint its benches."""

    def __init__(self, path, header):
        self.path = path
        self.data = json.loads(path.read_text()) if path.exists() else {**header, "cells": {}}
        for field, value in header.items():
            if self.data.get(field) != value:
                sys.exit(f"one_off: {path} holds results of another {field}; give another --json")

    def cell(self, key):
        return self.data["cells"].setdefault(key, {"built": {}, "refused": {}, "first": {}, "second": {}})

    def save(self):
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.data, indent=1) + "\n")
        part.replace(self.path)


def build_all(args, knobs, model, sample, cell, folder, deadline):
    """Fingerprints of all values into the cell; the engines that wait for a bench into the folder, named by fingerprint."""
    with Worker(args.headway, folder) as worker:
        worker.open(ROOT / f"build/models/{model}.onnx", args.threads, sample)
        default = worker.build("", folder / "default.hwe")
        for knob in knobs:
            for value in knob["values"][1:]:
                route = f"{knob['name']}={value}"
                known = cell["built"].get(route)
                if route in cell["refused"] or known == default or (known and not is_waiting(args, cell, known, folder)):
                    continue
                if time.monotonic() > deadline:
                    raise OutOfBudget
                fresh = folder / "fresh.hwe"
                try:
                    cell["built"][route] = worker.build(route, fresh)
                except WorkerFailure as failure:
                    cell["refused"][route] = str(failure)
                    continue
                if is_waiting(args, cell, cell["built"][route], folder) and cell["built"][route] != default:
                    fresh.replace(folder / f"{cell['built'][route]}.hwe")
    cell["default"] = default


def stands_out(args, found):
    return abs(found["speedup"] - 1) > args.screen / 100


def is_waiting(args, cell, fingerprint, folder):
    first = cell["first"].get(fingerprint)
    second = cell["second"].get(fingerprint)
    finished = first and (not stands_out(args, first) or (second and (args.count_unstable or not second["unstable"])))
    return not finished and not (folder / f"{fingerprint}.hwe").exists()


def verdict_of(found, margin):
    return "faster" if found["low"] > 1 + margin else "slower" if found["high"] < 1 - margin else "same"


def bench(args, fingerprints, sample, folder, effort):
    """Speed-up of each engine over the default, with its interval; whether the guards dropped too much."""
    command = [args.headway, "bench", folder / "default.hwe", "--data", sample, "--threads", args.threads, "--json"]
    for name, number in effort.items():
        command += [f"--{name}", number]
    for fingerprint in fingerprints:
        command += ["--against", folder / f"{fingerprint}.hwe"]
    facts = ask(command)
    found = {}
    for fingerprint, comparison in zip(fingerprints, facts["comparisons"]):
        # The bench says how much faster the default is.
        center, low, high = (1 / comparison[name] for name in ("speedup", "high", "low"))
        found[fingerprint] = {"speedup": center, "low": low, "high": high, "unstable": comparison["verdict"] == "UNSTABLE"}
    return found


def run_phase(args, cell, phase, effort, sample, folder, results, deadline):
    wanted = [path.stem for path in sorted(folder.glob("*.hwe")) if path.stem not in ("default", "fresh")]
    if phase == "first":
        wanted = [fingerprint for fingerprint in wanted if fingerprint not in cell["first"]]
    else:
        wanted = [fingerprint for fingerprint in wanted if stands_out(args, cell["first"][fingerprint])]
    for at in range(0, len(wanted), args.group):
        if time.monotonic() > deadline:
            raise OutOfBudget
        cell[phase].update(bench(args, wanted[at:at + args.group], sample, folder, effort))
        results.save()
        print(f"  {phase} bench: {min(at + args.group, len(wanted))} of {len(wanted)}", file=sys.stderr, flush=True)


def measure(args, knobs, results, deadline):
    for model in benchmark_models(args.models):
        profile = model["profiles"][min(args.profile_index, len(model["profiles"]) - 1)]["name"]
        key = f"{model['id']} {profile} {args.threads}t"
        print(key, file=sys.stderr, flush=True)
        cell, sample = results.cell(key), sample_of(model["id"], profile)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            try:
                build_all(args, knobs, model["id"], sample, cell, folder, deadline)
            finally:
                results.save()
            run_phase(args, cell, "first", FIRST, sample, folder, results, deadline)
            run_phase(args, cell, "second", SECOND, sample, folder, results, deadline)


def figure(found):
    return f"{found['speedup']:.3f}x [{found['low']:.3f}, {found['high']:.3f}]"


def tables(data, margin, count_unstable):
    reduced = {knob["name"] for knob in data["knobs"] if knob["numerics"] == "reduced"}
    wins, losses = (collections.defaultdict(lambda: collections.defaultdict(list)) for _ in range(2))
    timed, unstable = set(), 0
    for key, cell in data["cells"].items():
        for route, fingerprint in cell["built"].items():
            found = cell["second"].get(fingerprint)
            timed.update([route.split("=")[0]] if fingerprint in cell["first"] else [])
            unstable += bool(found and found["unstable"])
            verdict = verdict_of(found, margin) if found and (count_unstable or not found["unstable"]) else "same"
            if verdict == "same":
                continue
            (wins if verdict == "faster" else losses)[route.split("=")[0]][route].append((key, found))
    for knob in sorted(set(wins) | set(losses)):
        print(f"{knob}{' (reduced format)' if knob in reduced else ''}")
        for word, side in (("wins", wins), ("loses", losses)):
            for route, cells in sorted(side[knob].items()):
                for key, found in sorted(cells, key=lambda item: -abs(item[1]["speedup"] - 1)):
                    print(f"  {word:5} {route.split('=')[1]:12} {key:32} {figure(found)}")
    both = [knob for knob in sorted(wins) if wins[knob] and losses.get(knob)]
    same_value = sorted({route for knob in both for route in wins[knob] if route in losses[knob]})
    print(f"\n{len(timed)} of {len(data['knobs'])} knobs built another engine that was timed; {len([k for k in wins if wins[k]])} win "
          f"somewhere, {len([k for k in losses if losses[k]])} lose somewhere")
    print(f"{unstable} settings of a model were called unstable by the guards and {'count' if count_unstable else 'do not count'}")
    print(f"{len(both)} knobs win somewhere and lose somewhere: {', '.join(both) or 'none'}")
    print(f"{len(same_value)} single values do both: {', '.join(same_value) or 'none'}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--profile-index", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--knobs", default="*", help="only knobs whose names fit one of these globs")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no bench begins")
    parser.add_argument("--group", type=int, default=8, help="engines that meet the default in one bench")
    parser.add_argument("--screen", type=float, default=1.0, help="difference in the first bench that asks for the second, in percent")
    parser.add_argument("--margin", type=float, default=0.5, help="smallest difference that counts, in percent")
    parser.add_argument("--count-unstable", action="store_true", help="count benches of which the guards dropped too many rounds")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--tables", action="store_true", help="print the tables of the file, measure nothing")
    return parser.parse_args()


def main():
    args = parse_arguments()
    if args.tables:
        tables(json.loads(args.json.read_text()), args.margin / 100, args.count_unstable)
        return
    knobs = json.loads(subprocess.run([args.headway, "knobs", "--json"], capture_output=True, check=True, text=True).stdout)
    results = Results(args.json, {"headway_sha256": sha256(args.headway),
                                  "knobs": [{"name": knob["name"], "numerics": knob["numerics"]} for knob in knobs]})
    chosen = [knob for knob in knobs if any(fnmatch.fnmatch(knob["name"], glob) for glob in args.knobs.split(","))]
    try:
        measure(args, chosen, results, time.monotonic() + args.budget)
    except (OutOfBudget, KeyboardInterrupt):
        print("one_off: stopped; the same command goes on from here", file=sys.stderr)
    tables(results.data, args.margin / 100, args.count_unstable)


if __name__ == "__main__":
    main()
