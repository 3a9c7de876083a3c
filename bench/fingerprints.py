#!/usr/bin/env python3
"""Which knobs change which benchmark models: builds every value of every knob alone and compares fingerprints.

Prints, for each knob family, the models whose engine some knob of the family changes, and the knobs that change no model.
usage: bench/fingerprints.py [--models ID,..] [--profile-index K] [--headway PATH] [--json FILE]
needs: tools/models/fetch.py and make_inputs.py (build/models, build/data)
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from program import ROOT, Worker, WorkerFailure, benchmark_models, sample_of


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--profile-index", type=int, default=0)
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    knobs = json.loads(subprocess.run([args.headway, "knobs", "--json"], capture_output=True, check=True, text=True).stdout)
    changed = {knob["name"]: {} for knob in knobs}     # knob -> model -> values that build another engine
    with tempfile.TemporaryDirectory() as scratch:
        for model in benchmark_models(args.models):
            profile = model["profiles"][min(args.profile_index, len(model["profiles"]) - 1)]
            worker = Worker(args.headway, scratch)
            worker.open(ROOT / f"build/models/{model['id']}.onnx", 2, sample_of(model["id"], profile["name"]))

            def fingerprint(route):
                try:
                    return worker.build(route, f"{scratch}/e.hwe")
                except WorkerFailure as failure:
                    return str(failure)
            default = fingerprint("")
            for knob in knobs:
                values = [v for v in knob["values"][1:] if fingerprint(f"{knob['name']}={v}") != default]
                if values:
                    changed[knob["name"]][model["id"]] = values
            worker.end()
            print(f"{model['id']:14} {profile['name']:10} {sum(model['id'] in c for c in changed.values())} of "
                  f"{len(knobs)} knobs change it", flush=True)
    for family in sorted({knob["family"] for knob in knobs}):
        names = [knob["name"] for knob in knobs if knob["family"] == family]
        models = sorted({m for name in names for m in changed[name]})
        print(f"{family:8} {len(names):2} knobs; changes {', '.join(models) or 'nothing'}")
    print("no effect on any of these models alone:", ", ".join(k for k, c in changed.items() if not c) or "none")
    if args.json:
        args.json.write_text(json.dumps(changed, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
