"""The headway program as the benches call it."""
import json
import subprocess
import sys


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
