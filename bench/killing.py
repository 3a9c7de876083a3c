#!/usr/bin/env python3
"""A study whose workers are killed, stopped and starved of memory at random, and that is killed itself in the middle.

While `headway tune` runs with all builders, one of its workers is struck every few seconds: SIGKILL, SIGSTOP (a hang) or a
limit on its address space (out of memory). Half way the tuner itself is killed; the same command then goes on. In the end
there must be a verdict, an engine that passes the gate, and a log that proves the verdict.

usage: bench/killing.py [--model ID] [--profile NAME] [--budget SECONDS] [--builders B,..] [--seed N] [--headway PATH]
needs: tools/bootstrap --peers, tools/models/fetch.py and make_inputs.py (build/models, build/data)
"""
import argparse
import collections
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def workers_of(pid):
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == pid:
                found.append(int(folder.name))
        except (OSError, IndexError):
            continue        # it ended meanwhile
    return found


def strike(rng, pid):
    kind = rng.choices(["killed", "hung", "starved"], [5, 2, 2])[0]
    try:
        if kind == "killed":
            os.kill(pid, signal.SIGKILL)
        elif kind == "hung":
            os.kill(pid, signal.SIGSTOP)
        else:
            resource.prlimit(pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
    except (ProcessLookupError, PermissionError):
        return None
    return kind


def run_struck(command, rng, seconds, strikes):
    """Until it ends, or for some seconds: then it is killed. Its exit code, or nothing."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(rng.uniform(1, 4))
        victims = workers_of(process.pid)
        if victims:
            strikes[strike(rng, rng.choice(victims))] += 1
    if process.poll() is None:
        process.kill()
        process.wait()
        return None, "", ""
    out, err = process.communicate()
    return process.returncode, out, err


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="minilm-l3")
    parser.add_argument("--profile", default="b1_s16")
    parser.add_argument("--budget", type=float, default=90)
    parser.add_argument("--builders", default="native,onnxruntime,openvino")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    args = parser.parse_args()
    rng, strikes = random.Random(args.seed), collections.Counter()
    model, data = ROOT / f"build/models/{args.model}.onnx", ROOT / "build/data" / args.model / args.profile / "tuning"
    with tempfile.TemporaryDirectory() as folder:
        study, engine = f"{folder}/study", f"{folder}/engine.hwe"
        command = [args.headway, "tune", str(model), "--data", str(data), "--builder", args.builders, "--budget",
                   f"{args.budget:.0f}s", "--study", study, "-o", engine, "--json"]
        run_struck(command, rng, args.budget / 2, strikes)
        code, out, err = run_struck(command, rng, 10 * args.budget + 300, strikes)
        if code not in (0, 1):
            sys.exit(f"FAILED: tune ended with {code}: {err.strip().splitlines()[-1:]}")
        result = json.loads(out.strip().splitlines()[-1])
        outcomes = collections.Counter(json.loads(line).get("outcome") for line in open(f"{study}/log.jsonl")
                                       if '"event":"trial"' in line)
        checked = subprocess.run([args.headway, "check", engine, "--data", data, "--json"], capture_output=True, text=True)
        replayed = subprocess.run([args.headway, "replay", study], capture_output=True, text=True)
    print(f"strikes: {dict(strikes)}; the tuner itself was killed once")
    print(f"verdict {result['verdict']} ({result['why'] or 'claimed'}), {result['trials']} trials: {dict(outcomes)}")
    print(f"delivered engine: {'passes the gate' if checked.returncode == 0 else 'FAILS: ' + checked.stderr + checked.stdout}")
    print(f"replay of the log: {'agrees' if replayed.returncode == 0 else 'DISAGREES: ' + replayed.stdout + replayed.stderr}")
    return int(checked.returncode != 0 or replayed.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
