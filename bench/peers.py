#!/usr/bin/env python3
"""Headway beside ONNX Runtime and OpenVINO on the benchmark models: one interleaved run, fresh processes.

A cell is a model, a profile and a thread count. In each of its visits every contender has one new process, started in
random order; the processes take turns, ROUNDS blocks each, one at a time, with a pause before each block in which idle
threads park. The value of a visit is the median of its paired log ratios; a cell's figure is the geometric mean over its
visits with a t interval at 95 %.

Results are written after each cell; a run with the same --json goes on where it stopped. The table is printed, and written
as Markdown beside the JSON file.

usage: bench/peers.py [--models ID,..] [--profiles NAME,..] [--threads 1,2] [--peers ort,openvino] [--tuned DIR]
                      [--budget-seconds-per-cell S] [--json FILE] [--headway PATH] [--route TEXT]
needs: tools/bootstrap --peers, tools/models/fetch.py and make_inputs.py (build/models, build/data); run by .venv/bin/python
"""
import argparse
import hashlib
import importlib.metadata
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from contenders import PEERS, Fails, Headway, Peer

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST_VISITS = 2    # an interval needs two
# Two-sided 95 % points of Student's t for 1.. degrees of freedom; the last one serves all beyond.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


# ---- one cell ---------------------------------------------------------------------------------------------------
def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def speedup(over, of, visits):
    """[mean, low, high] of time of `over` divided by time of `of`."""
    logs = [median([math.log(a / b) for a, b in zip(visit[over], visit[of])]) for visit in visits]
    mean = sum(logs) / len(logs)
    half = math.inf
    if len(logs) > 1:
        deviation = math.sqrt(sum((v - mean) ** 2 for v in logs) / (len(logs) - 1))
        half = T95[min(len(logs) - 2, len(T95) - 1)] * deviation / math.sqrt(len(logs))
    return [math.exp(mean), math.exp(mean - half), math.exp(mean + half) if half < math.inf else math.inf]


def visit(starters, args):
    """Nanoseconds a call: {contender: [one per round]}."""
    order = list(starters)
    random.shuffle(order)
    running = {}
    try:
        for name in order:
            running[name] = starters[name]()
        slowest = 0
        for name in order:                          # warm up: at least 0.2 s and three calls
            calls = spent = 0
            while spent < 0.2e9 or calls < 3:
                once = running[name].block(1)
                calls, spent = calls + 1, spent + once
            slowest = max(slowest, once)
        iterations = max(1, int(args.block_ms * 1e6 / slowest))
        times = {name: [] for name in starters}
        for _ in range(args.rounds):
            random.shuffle(order)
            for name in order:
                time.sleep(args.settle_ms / 1e3)    # idle threads of the other runtime spin on after its last call
                running[name].block(1)              # the other contender owned the caches
                times[name].append(running[name].block(iterations))
        return times
    finally:
        for runtime in running.values():
            runtime.close()


def build_default(args, path, sample, threads, engine):
    built = subprocess.run([args.headway, "build", str(path), "--data", str(sample), "--threads", str(threads), "-o",
                            str(engine), "--route", args.route, "--json"], capture_output=True, text=True)
    if built.returncode != 0:
        raise Fails("headway", built.stderr.strip())


def tuned_engine(args, model, profile, threads):
    path = args.tuned / f"{model}-{profile}-{threads}t.hwe" if args.tuned else None
    return path if path and path.exists() else None


def run_visits(starters, args):
    """The visits that fit the budget, and the reasons of contenders that dropped out."""
    visits, failed, begin = [], {}, time.monotonic()
    while len(visits) < args.visits and "headway" in starters:
        spent = time.monotonic() - begin
        if len(visits) >= LEAST_VISITS and spent + spent / len(visits) > args.budget_seconds_per_cell:
            break
        try:
            visits.append(visit(starters, args))
        except Fails as error:                      # it leaves the cell, and so do its earlier visits
            failed[error.name] = error.reason
            starters.pop(error.name)
    return visits, failed


def measure(args, model, profile, threads):
    path = args.model_folder / f"{model}.onnx"
    sample = args.data_folder / model / profile / "tuning" / "test_data_set_0"
    begin = time.monotonic()
    cell = {"model": model, "profile": profile, "threads": threads}
    tuned = tuned_engine(args, model, profile, threads)
    with tempfile.TemporaryDirectory() as scratch:
        engines = {"headway": pathlib.Path(scratch) / "default.hwe"}
        if tuned:
            engines["tuned"] = tuned
            cell["tuned_sha256"] = sha256(tuned)
        starters = {name: lambda name=name: Headway(name, args.headway, path, sample, threads, engines[name])
                    for name in engines}
        for peer in args.peers:
            starters[peer] = lambda peer=peer: Peer(peer, path, sample, threads)
        try:
            build_default(args, path, sample, threads, engines["headway"])
            visits, failed = run_visits(starters, args)
        except Fails as error:
            visits, failed = [], {error.name: error.reason}
    cell["contenders"] = {name: {"fails": reason} for name, reason in failed.items()}
    for name in starters if visits else []:
        cell["contenders"][name] = {"ms": median([median(v[name]) for v in visits]) / 1e6}
    measured = [name for name in cell["contenders"] if "ms" in cell["contenders"][name]]
    cell["speedups"] = {ours: {over: speedup(over, ours, visits) for over in measured
                               if over != ours and not (ours == "headway" and over == "tuned")}
                        for ours in ("headway", "tuned") if ours in measured}
    cell["visits"], cell["seconds"] = visits, round(time.monotonic() - begin, 1)
    return cell


# ---- results on disk --------------------------------------------------------------------------------------------
def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def cpu_facts():
    fields = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    name = fields.get("model name", "unknown")
    if "cpu family" in fields:
        name += f" (family {fields['cpu family']}, model {fields.get('model')})"
    wanted = ("avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile")
    flags = fields.get("flags", "").split()
    return name, " ".join(flag for flag in wanted if flag in flags)


def header_of(args):
    cpu, isa = cpu_facts()
    return {"cpu": cpu, "isa": isa, "headway_sha256": sha256(args.headway), "route": args.route,
            "peers": {peer: importlib.metadata.version(PEERS[peer]) for peer in args.peers},
            "rounds": args.rounds, "block_ms": args.block_ms, "settle_ms": args.settle_ms}


def load_results(args, header):
    results = {**header, "cells": []}
    if args.json and args.json.exists():
        results = json.loads(args.json.read_text())
        for field, value in header.items():
            if results.get(field) != value:
                sys.exit(f"peers: {args.json} has results of another run: {field} was {results.get(field)}, now {value}; "
                         "give another --json")
    return results


def save(path, results):
    part = path.with_suffix(".part")
    part.write_text(json.dumps(results) + "\n")
    part.replace(path)


def finished(results, args, model, profile, threads):
    tuned = tuned_engine(args, model, profile, threads)
    wanted = sha256(tuned) if tuned else None
    return any((cell["model"], cell["profile"], cell["threads"]) == (model, profile, threads) and
               cell.get("tuned_sha256") == wanted for cell in results["cells"])


# ---- the table --------------------------------------------------------------------------------------------------
def figures(cell, names):
    row = [cell["model"], cell["profile"], str(cell["threads"]), str(len(cell["visits"]))]
    for name in names:
        contender = cell["contenders"].get(name, {})
        row.append(f"{contender['ms']:.3f}" if "ms" in contender else "fails" if "fails" in contender else "-")
    return row


def columns_of(cells):
    names = [name for name in ("headway", "tuned", *PEERS) if any(name in cell["contenders"] for cell in cells)]
    pairs = [(ours, over) for ours in names[:2] if ours in ("headway", "tuned") for over in names
             if over != ours and not (ours == "headway" and over == "tuned")]
    return names, pairs


def table(cells):
    """Rows of text, the first one the heads."""
    names, pairs = columns_of(cells)
    rows = [["model", "profile", "threads", "visits", *[f"{name} ms" for name in names],
             *[f"{ours} over {over}" for ours, over in pairs]]]
    for cell in cells:
        row = figures(cell, names)
        for ours, over in pairs:
            known = cell["speedups"].get(ours, {}).get(over)
            row.append("{:.2f}x [{:.2f}, {:.2f}]".format(*known) if known else
                       "fails" if "fails" in cell["contenders"].get(over, {}) else "-")
        rows.append(row)
    return rows


def summary(cells):
    lines = []
    for ours, over in columns_of(cells)[1]:
        for threads in sorted({cell["threads"] for cell in cells}):
            known = [cell["speedups"][ours][over] for cell in cells
                     if cell["threads"] == threads and over in cell["speedups"].get(ours, {})]
            if known:
                mean = math.exp(sum(math.log(k[0]) for k in known) / len(known))
                lines.append(f"{ours} over {over}, {threads} threads: geometric mean {mean:.2f}x of {len(known)} cells; "
                             f"interval above 1 in {sum(k[1] > 1 for k in known)}, below 1 in {sum(k[2] < 1 for k in known)}")
    return lines


def print_table(results, markdown):
    rows = table(results["cells"])
    heading = (f"CPU: {results['cpu']}; {results['isa']}. Peers: " +
               ", ".join(f"{PEERS[peer]} {version}" for peer, version in results["peers"].items()) +
               ". Speed-up = time of the other over time of ours, geometric mean [95 % interval].")
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    print(heading)
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())
    print("\n".join(summary(results["cells"])))
    if markdown:
        head, *body = ["| " + " | ".join(row) + " |" for row in rows]
        lines = [heading, "", head, "|" + "---|" * len(rows[0]), *body, "", *["- " + line for line in summary(results["cells"])]]
        markdown.write_text("\n".join(lines) + "\n")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: all of tools/models/models.json")
    parser.add_argument("--profiles", help="default: all")
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--peers", default="ort,openvino", type=lambda text: text.split(","))
    parser.add_argument("--tuned", type=pathlib.Path, help="folder of MODEL-PROFILE-THREADSt.hwe, a further contender where there is one")
    parser.add_argument("--budget-seconds-per-cell", type=float, default=90)
    parser.add_argument("--visits", type=int, default=16, help="most visits of a cell")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--block-ms", type=float, default=60)
    parser.add_argument("--settle-ms", type=float, default=250, help="pause before each block, for spinning threads to park")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--route", default="", help="of Headway's engine; default: the default route")
    parser.add_argument("--model-folder", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--data-folder", type=pathlib.Path, default=ROOT / "build/data")
    parser.add_argument("--json", type=pathlib.Path, help="results; finished cells in it are not measured again")
    args = parser.parse_args()
    for peer in args.peers:
        if peer not in PEERS:
            parser.error(f"no peer {peer}; there are {', '.join(PEERS)}")
    return args


def main():
    args = parse_arguments()
    models = json.loads((ROOT / "tools/models/models.json").read_text())["models"]
    order = [(model["id"], profile["name"]) for model in models for profile in model["profiles"]]
    cells = [(model, profile, threads) for model, profile in order for threads in args.threads
             if (not args.models or model in args.models.split(",")) and
             (not args.profiles or profile in args.profiles.split(","))]
    if not cells:
        sys.exit("peers: no model has such a profile")
    results = load_results(args, header_of(args))
    for number, key in enumerate(cells, 1):
        if finished(results, args, *key):
            continue
        print(f"[{number}/{len(cells)}] {key[0]} {key[1]}, {key[2]} threads", file=sys.stderr, flush=True)
        cell = measure(args, *key)
        results["cells"] = [old for old in results["cells"] if (old["model"], old["profile"], old["threads"]) != key] + [cell]
        results["cells"].sort(key=lambda cell: (order.index((cell["model"], cell["profile"])), cell["threads"]))
        if args.json:
            save(args.json, results)
    print_table(results, args.json.with_suffix(".md") if args.json else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
