#!/usr/bin/env python3
"""Headway beside ONNX Runtime and OpenVINO on the benchmark models: do they agree, and which is faster.

A cell is a model, a profile and a thread count. `headway check` judges every contender on the cell's data; those that
can run and agree meet in one `headway bench`: fresh processes, interleaved blocks, the same code that tunes.
Contenders: Headway's default engine, ONNX Runtime as it comes, OpenVINO in f32 (activations too), OpenVINO as it comes (on many machines
bf16) and, where there are any, tuned engines of --tuned. The first table is f32 against f32; the second the best of each
within the tolerance.

Results are written after each cell; a run with the same --json goes on where it stopped. The tables are printed, and
written as Markdown beside the JSON file.

With --files, ONNX files of your own take the place of the benchmark models: generated inputs, nothing to judge by.

usage: bench/peers.py [--models ID,..] [--profiles NAME,..] [--threads 1,2] [--tuned DIR] [--visits N] [--rounds N]
                      [--json FILE] [--headway PATH] [--agreement-only] [--f32-only] [--files FILE ..]
needs: tools/bootstrap --peers, tools/models/fetch.py and make_inputs.py (build/models, build/data)
"""
import argparse
import json
import math
import pathlib
import sys
import textwrap
import time

from program import sha256, try_ask

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name -> how an operand of `headway bench` is written; all of them one model
CONTENDERS = {"headway": "{}", "onnxruntime": "onnxruntime:{}", "openvino f32": "openvino:{}::format.dynamic_quantization_group=0,format.precision=f32",
              "openvino": "openvino:{}"}
F32 = ("onnxruntime", "openvino f32")
# Two-sided 95 % points of Student's t for 1.. degrees of freedom; the last one serves all beyond.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


# ---- one cell ---------------------------------------------------------------------------------------------------
def judge(args, operand, data, threads):
    """How far the outputs of a contender are from the references, or why there are none."""
    facts, reason = try_ask([args.headway, "check", operand, *data, "--threads", threads, "--json"])
    if facts is None:
        return {"fails": reason}
    worst = max(facts["outputs"], key=lambda output: output["rel_l2"])
    return {"pass": facts["pass"], "rel_l2": worst["rel_l2"], "max_abs": max(o["max_abs"] for o in facts["outputs"]),
            "output": worst["name"]}


def measure(args, model, profile, threads):
    begin = time.monotonic()
    path = args.files[model] if args.files else args.model_folder / f"{model}.onnx"
    data = [] if args.files else ["--data", args.data_folder / model / profile / "tuning"]
    operands = {name: form.format(path) for name, form in CONTENDERS.items() if name != "openvino" or not args.f32_only}
    tuned = tuned_engine(args, model, profile, threads)
    cell = {"model": model, "profile": profile, "threads": threads}
    if tuned:
        operands["tuned"] = str(tuned)
        cell["tuned_sha256"] = sha256(tuned)
    cell["contenders"] = {name: judge(args, operand, data, threads) if data else {"pass": True}
                          for name, operand in operands.items()}
    racing = [name for name in operands if cell["contenders"][name].get("pass")]
    if "headway" in racing and len(racing) > 1 and not args.agreement_only:
        command = [args.headway, "bench", operands["headway"], *data, "--threads", threads, "--visits", args.visits,
                   "--rounds", args.rounds, "--json"]
        for name in racing[1:]:
            command += ["--against", operands[name]]
        facts, reason = try_ask(command)
        if facts is None:
            sys.exit(f"peers: {model} {profile}: {reason}")
        for name, engine in zip(racing, facts["engines"]):
            cell["contenders"][name]["ms"] = engine["median_ms"]
        cell["log_speedups"] = dict(zip(racing[1:], (c["log_speedups"] for c in facts["comparisons"])))  # of headway
        cell["guards"] = facts["guards"]
        cell["cpu"] = facts["machine"]["cpu"]
    cell["seconds"] = round(time.monotonic() - begin, 1)
    return cell


def interval(logs):
    """[mean, low, high] of a speed-up from its log values, one a visit."""
    mean = sum(logs) / len(logs)
    half = math.inf
    if len(logs) > 1:
        deviation = math.sqrt(sum((value - mean) ** 2 for value in logs) / (len(logs) - 1))
        half = T95[min(len(logs) - 2, len(T95) - 1)] * deviation / math.sqrt(len(logs))
    return [math.exp(mean), math.exp(mean - half), math.exp(mean + half) if half < 700 else math.inf]


def speedup(cell, ours, over):
    """Of contender `ours` over contender `over`, or nothing when one of them was not timed."""
    logs = {"headway": None, **cell.get("log_speedups", {})}
    if ours not in logs or over not in logs or logs[over] is None:
        return None
    own = logs[ours] or [0.0] * len(logs[over])     # log time of ours over headway's, by visit
    return interval([b - a for a, b in zip(own, logs[over])])


def best_of(cell, names):
    timed = [name for name in names if "ms" in cell["contenders"].get(name, {})]
    return min(timed, key=lambda name: cell["contenders"][name]["ms"], default=None)


def tuned_engine(args, model, profile, threads):
    path = args.tuned / f"{model}-{profile}-{threads}t.hwe" if args.tuned else None
    return path if path and path.exists() else None


# ---- results on disk --------------------------------------------------------------------------------------------
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
    return {"cpu": cpu, "isa": isa, "headway_sha256": sha256(args.headway), "visits": args.visits, "rounds": args.rounds}


def load_results(args, header):
    if not (args.json and args.json.exists()):
        return {**header, "cells": []}
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


def finished(results, args, key):
    tuned = tuned_engine(args, *key)
    wanted = sha256(tuned) if tuned else None
    return any((cell["model"], cell["profile"], cell["threads"]) == key and cell.get("tuned_sha256") == wanted
               for cell in results["cells"])


# ---- the tables -------------------------------------------------------------------------------------------------
def figure(known):
    return "{:.2f}x [{:.2f}, {:.2f}]".format(*known) if known else "-"


def ms(cell, name):
    contender = cell["contenders"].get(name, {})
    return f"{contender['ms']:.3f}" if "ms" in contender else "fails" if "fails" in contender else "-"


def key_columns(cell):
    return [cell["model"], cell["profile"], str(cell["threads"])]


def agreement_table(cells):
    rows = [["model", "profile", "threads", *[f"{name} rel_l2" for name in (*CONTENDERS, "tuned")]]]
    for cell in cells:
        row = key_columns(cell)
        for name in (*CONTENDERS, "tuned"):
            facts = cell["contenders"].get(name)
            row.append("-" if facts is None or facts.get("pass") and "rel_l2" not in facts else "fails" if "fails" in facts else
                       f"{facts['rel_l2']:.1e}" + ("" if facts["pass"] else " OUTSIDE"))
        rows.append(row)
    return rows


def f32_table(cells):
    rows = [["model", "profile", "threads", "headway ms", *[f"{name} ms" for name in F32], *[f"headway over {name}" for name in F32]]]
    for cell in cells:
        rows.append(key_columns(cell) + [ms(cell, name) for name in ("headway", *F32)] +
                    [figure(speedup(cell, "headway", name)) for name in F32])
    return rows


def best_table(cells):
    rows = [["model", "profile", "threads", "best of headway", "best of openvino", "over onnxruntime", "over openvino"]]
    for cell in cells:
        ours, theirs = best_of(cell, ("headway", "tuned")), best_of(cell, ("openvino", "openvino f32"))
        rows.append(key_columns(cell) + [ours or "-", theirs or "-", figure(speedup(cell, ours, "onnxruntime")),
                                         figure(speedup(cell, ours, theirs))])
    return rows


def geometric_means(cells):
    lines = []
    for over in F32:
        for threads in sorted({cell["threads"] for cell in cells}):
            known = [k for k in (speedup(cell, "headway", over) for cell in cells if cell["threads"] == threads) if k]
            if known:
                mean = math.exp(sum(math.log(k[0]) for k in known) / len(known))
                lines.append(f"headway over {over}, {threads} threads: geometric mean {mean:.2f}x of {len(known)} cells; "
                             f"interval above 1 in {sum(k[1] > 1 for k in known)}, below 1 in {sum(k[2] < 1 for k in known)}")
    for ours in ("headway", "tuned"):
        for threads in sorted({cell["threads"] for cell in cells}):
            known = [k for k in (over_better(cell, ours) for cell in cells if cell["threads"] == threads) if k]
            if known:
                mean = math.exp(sum(math.log(k[0]) for k in known) / len(known))
                lines.append(f"{ours} over the better of the two, {threads} threads: geometric mean {mean:.2f}x of {len(known)} cells; "
                             f"below 1 in {sum(k[0] < 1 for k in known)}, with the interval in {sum(k[2] < 1 for k in known)}")
    return lines


def over_better(cell, ours):
    """Speed-up of ours over the faster one of the peers in f32."""
    return min(filter(None, (speedup(cell, ours, name) for name in F32)), default=None, key=lambda known: known[0])


def failures(cells):
    reasons = {}
    for cell in cells:
        for name, facts in cell["contenders"].items():
            if "fails" in facts:
                reasons.setdefault((name, cell["model"]), facts["fails"])
    return [f"{name} fails on {model}: {reason[:300]}" for (name, model), reason in reasons.items()]


def plain(rows):
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]


def markdown(rows):
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return [head, "|" + "---|" * len(rows[0]), *body]


def write_tables(results, path):
    cells = results["cells"]
    timed = [cell for cell in cells if "log_speedups" in cell]
    parts = [("Agreement with the references", agreement_table(cells))]
    if timed:
        parts += [("f32 against f32", f32_table(timed)), ("Best within the tolerance", best_table(timed))]
    heading = textwrap.wrap(f"CPU: {results['cpu']}; {results['isa']}. Speed-up = time of the other over time of ours, geometric "
                            f"mean of {results['visits']} visits [95 % interval].", width=140)
    notes = geometric_means(timed) + failures(cells)
    print(*heading, sep="\n")
    for title, rows in parts:
        print(f"\n{title}", *plain(rows), sep="\n")
    print("", *notes, sep="\n")
    if path:
        lines = ["# Headway, ONNX Runtime and OpenVINO", "", *heading, ""]
        for title, rows in parts:
            lines += [f"## {title}", "", *markdown(rows), ""]
        path.write_text("\n".join(lines + [f"- {note}" for note in notes]) + "\n")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--profiles", help="default: all")
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--tuned", type=pathlib.Path, help="folder of MODEL-PROFILE-THREADSt.hwe, a further contender where there is one")
    parser.add_argument("--visits", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--f32-only", action="store_true", help="without OpenVINO as it comes")
    parser.add_argument("--files", type=pathlib.Path, nargs="+", help="ONNX files instead of the benchmark models")
    parser.add_argument("--agreement-only", action="store_true", help="judge, time nothing")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--model-folder", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--data-folder", type=pathlib.Path, default=ROOT / "build/data")
    parser.add_argument("--json", type=pathlib.Path, help="results; finished cells in it are not measured again")
    args = parser.parse_args()
    args.files = {path.stem: path for path in args.files or []}
    return args


def main():
    args = parse_arguments()
    models = ([{"id": name, "tier": "core", "profiles": [{"name": "generated"}]} for name in args.files] or
              json.loads((ROOT / "tools/models/models.json").read_text())["models"])
    order = [(model["id"], profile["name"]) for model in models for profile in model["profiles"]]
    wanted = args.models.split(",") if args.models else [model["id"] for model in models if model["tier"] == "core"]
    cells = [(model, profile, threads) for model, profile in order for threads in args.threads if model in wanted and
             (not args.profiles or profile in args.profiles.split(","))]
    if not cells:
        sys.exit("peers: no model has such a profile")
    results = load_results(args, header_of(args))
    for number, key in enumerate(cells, 1):
        if finished(results, args, key):
            continue
        print(f"[{number}/{len(cells)}] {key[0]} {key[1]}, {key[2]} threads", file=sys.stderr, flush=True)
        cell = measure(args, *key)
        results["cells"] = [old for old in results["cells"] if (old["model"], old["profile"], old["threads"]) != key] + [cell]
        results["cells"].sort(key=lambda cell: (order.index((cell["model"], cell["profile"])), cell["threads"]))
        if args.json:
            save(args.json, results)
    write_tables(results, args.json.with_suffix(".md") if args.json else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
