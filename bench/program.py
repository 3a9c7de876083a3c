"""The headway program as the benches call it: commands, and a worker process that builds and times engines."""
import hashlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROTOCOL = 3


def try_ask(command):
    """(JSON, None) that a headway command prints, or (None, reason); exit code 1 is a well-formed no."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode > 1 or not done.stdout:
        lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return None, lines[-1].removeprefix("headway: ")
    return json.loads(done.stdout), None


def ask(command):
    """The JSON that a headway command prints; ends this program with the reason when there is none."""
    facts, reason = try_ask(command)
    if facts is None:
        sys.exit(f"{' '.join(map(str, command))}: {reason}")
    return facts


def benchmark_models(wanted=None):
    """The models of tools/models/models.json whose ids are in the comma list `wanted`, by default the tier core."""
    table = json.loads((ROOT / "tools/models/models.json").read_text())["models"]
    return [model for model in table if (model["id"] in wanted.split(",") if wanted else model["tier"] == "core")]


def sample_of(model, profile):
    """The folder of the first sample of a profile's tuning data."""
    return ROOT / "build/data" / model / profile / "tuning/test_data_set_0"


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class WorkerFailure(RuntimeError):
    """What a worker could not do, and why."""


class Worker:
    """A worker process of one builder; `scratch` is a folder for long messages."""

    def __init__(self, headway, scratch, builder="native"):
        self.scratch = pathlib.Path(scratch)
        self.process = subprocess.Popen([str(headway), "worker", "--builder", builder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.ask("hello", protocol=PROTOCOL, scratch=str(scratch), heap_padding=0)

    def ask(self, cmd, **fields):
        self.process.stdin.write(json.dumps({"id": 1, "cmd": cmd, "deadline_s": 600, **fields}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise WorkerFailure(f"the worker ended at {cmd}")
        reply = json.loads(line)
        if "file" in reply:
            reply = json.loads((self.scratch / reply["file"]).read_text())
        if "failure" in reply:
            raise WorkerFailure(reply["reason"])
        return reply

    def open(self, model, threads, sample):
        return self.ask("open", model=str(model), target="native", threads=threads, shapes=[], ranges=[], values=[],
                        variants=[], timing_data=str(sample))

    def build(self, route, engine):
        """The fingerprint of the engine that the route makes."""
        return self.ask("build", route=route, engine=str(engine), ledger="")["fingerprint"]

    def load(self, engine):
        self.ask("load", engine=str(engine), streams=1)

    def block(self, engine, iterations, preroll=0):
        """Seconds of one of so many iterations."""
        ns = self.ask("block", engine=str(engine), iterations=iterations, preroll=preroll, streams=1, per_iteration=False,
                      cold=False)["ns"]
        return sum(ns) * 1e-9 / iterations

    def peak_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        raise WorkerFailure("no VmHWM")

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
