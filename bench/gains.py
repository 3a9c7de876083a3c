#!/usr/bin/env python3
"""What tuning gives on the benchmark models: `headway tune` on one profile of each, then a fresh interleaved bench of
the tuned engine against the default one.

Prints, for each model: the verdict, the claimed speed-up with its interval, whether held-out data agreed, trials and
distinct engines an hour, and the fresh bench. Studies stay in --studies and go on where they stopped; finished ones are
not tuned again. Engines are written as MODEL-PROFILE-THREADSt.hwe, which bench/peers.py --tuned takes.
`headway report STUDIES/*` then lists the settings that win on one model and lose on another.

usage: bench/gains.py [--models ID,..] [--profile-index K] [--threads N] [--budget TIME] [--studies DIR] [--headway PATH]
                      [--json FILE]
needs: tools/models/fetch.py and make_inputs.py (build/models, build/data)
"""
import argparse
import json
import pathlib

from program import ask

ROOT = pathlib.Path(__file__).resolve().parent.parent


def cell(args, model, profile):
    name = f"{model}-{profile}-{args.threads}t"
    data = ROOT / "build/data" / model / profile
    onnx, study, engine = ROOT / f"build/models/{model}.onnx", args.studies / name, args.studies / f"{name}.hwe"
    common = ["--threads", str(args.threads)]
    if not (study / "report.json").exists():
        ask([args.headway, "tune", onnx, "--data", data / "tuning", "--heldout", data / "heldout", "--budget", args.budget,
             "--study", study, "-o", engine, "--json", *common])
    report = json.loads((study / "report.json").read_text())
    sample = data / "tuning/test_data_set_0"
    default = args.studies / f"{name}-default.hwe"
    ask([args.headway, "build", onnx, "--data", sample, "-o", default, "--json", *common])
    bench = ask([args.headway, "bench", engine, "--against", default, "--data", sample, "--json", *common])
    result, fresh = report["result"], bench["comparisons"][0]
    hours = result["seconds"] / 3600
    engines = sum(1 for _ in (study / "ledgers").glob("*.json"))
    return {"model": model, "profile": profile, "threads": args.threads, "cpu": bench["machine"]["cpu"],
            "verdict": result["verdict"], "why": result["why"], "route": result["route"], "speedup": result["speedup"],
            "low": result["low"], "high": result["high"], "resolution": result["evidence"]["resolution"],
            "heldout": result["accuracy"]["heldout"], "trials_an_hour": result["trials"] / hours,
            "engines_an_hour": engines / hours, "fresh": fresh}


def line(c):
    heldout = "-" if c["heldout"] is None else "pass" if c["heldout"]["pass"] else "FAIL"
    fresh = c["fresh"]
    return (f"{c['model']:13} {c['profile']:11} {c['verdict']:8} {c['speedup']:.3f}x [{c['low']:.3f}, {c['high']:.3f}]  held-out {heldout:4}  "
            f"{c['trials_an_hour']:6.0f} trials/h {c['engines_an_hour']:6.0f} engines/h  fresh bench {fresh['verdict']} "
            f"{fresh['speedup']:.3f}x [{fresh['low']:.3f}, {fresh['high']:.3f}] resolution {100 * fresh['resolution']:.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--profile-index", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--studies", type=pathlib.Path, default=ROOT / "build/studies")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    args.studies.mkdir(parents=True, exist_ok=True)
    cells = []
    for model in json.loads((ROOT / "tools/models/models.json").read_text())["models"]:
        if model["id"] not in args.models.split(",") if args.models else model["tier"] != "core":
            continue
        profiles = [profile["name"] for profile in model["profiles"]]
        cells.append(cell(args, model["id"], profiles[min(args.profile_index, len(profiles) - 1)]))
        print(line(cells[-1]), flush=True)
        print(f"{'':13} {cells[-1]['why']}\n{'':13} route {cells[-1]['route'] or '(default)'}", flush=True)
        if args.json:
            args.json.write_text(json.dumps(cells, indent=1) + "\n")


if __name__ == "__main__":
    main()
