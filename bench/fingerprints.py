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

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Worker:
    def __init__(self, program, scratch):
        self.process = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.scratch, self.count = scratch, 0
        self.ask(cmd="hello", protocol=2, scratch=scratch)

    def ask(self, **request):
        self.count += 1
        self.process.stdin.write(json.dumps({"id": self.count, "deadline_s": 300, **request}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or '{"failure": "ended", "reason": "worker ended"}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="default: the tier core of tools/models/models.json")
    parser.add_argument("--profile-index", type=int, default=0)
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    knobs = json.loads(subprocess.run([args.headway, "knobs", "--json"], capture_output=True, check=True, text=True).stdout)
    table = json.loads((ROOT / "tools/models/models.json").read_text())["models"]
    changed = {knob["name"]: {} for knob in knobs}     # knob -> model -> values that build another engine
    with tempfile.TemporaryDirectory() as scratch:
        for model in table:
            if model["id"] not in args.models.split(",") if args.models else model["tier"] != "core":
                continue
            profile = model["profiles"][min(args.profile_index, len(model["profiles"]) - 1)]
            worker = Worker(args.headway, scratch)
            sample = ROOT / "build/data" / model["id"] / profile["name"] / "tuning/test_data_set_0"
            opened = worker.ask(cmd="open", model=str(ROOT / f"build/models/{model['id']}.onnx"), target="native", threads=2,
                                timing_data=str(sample), shapes=[], values=[], variants=[])
            if "failure" in opened:
                sys.exit(f"{model['id']}: {opened['reason']}")

            def fingerprint(route):
                reply = worker.ask(cmd="build", route=route, engine=f"{scratch}/e.hwe", ledger="")
                return reply.get("fingerprint", reply.get("failure"))
            default = fingerprint("")
            for knob in knobs:
                values = [v for v in knob["values"][1:] if fingerprint(f"{knob['name']}={v}") != default]
                if values:
                    changed[knob["name"]][model["id"]] = values
            worker.process.stdin.close()
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
