#!/usr/bin/env python3
"""What importing and building cost: seconds and peak memory for a model, and how import grows with nodes.

For the model: seconds of `headway inspect` (import) and `headway build` (import and default build), and the peak resident
memory of both over the size of the file, mapped pages of the file included. For synthetic graphs of --nodes nodes: CPU
seconds (which other programs on the machine change least; the least of three runs) of import for a chain, a fan-out (one
value with many readers), a chain with a constant for each node and a chain of Ifs, less those of a graph of one node, and
the exponent p of seconds = c * nodes^p fitted to them. With --build also of import and default build.

usage: bench/import_cost.py [MODEL [--data DIR]] [--nodes 1000,10000,100000] [--shapes NAME,..] [--build] [--headway PATH]
                            [--json FILE]
"""
import argparse
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


# ---- an ONNX file by hand -----------------------------------------------------------------------------------------
def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, payload):
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def node(op, inputs, output, attributes=b""):
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, op) + attributes


def value_info(name, extents=(4,)):
    shape = b"".join(field(1, field(1, extent)) for extent in extents)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def floats(name, values):
    return field(1, len(values)) + field(2, 1) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def graph(nodes, output, initializers=(), inputs=("x",)):
    return (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, t) for t in initializers)
            + b"".join(field(11, value_info(name)) for name in inputs) + field(12, value_info(output)))


def model(body):
    return field(1, 8) + field(7, body) + field(8, field(1, "") + field(2, 17))


def chain(count):
    return graph([node("Sigmoid", [f"v{i - 1}" if i else "x"], f"v{i}") for i in range(count)], f"v{count - 1}")


def fan(count):
    """One value that half of the nodes read; the other half adds the results up, as a tree."""
    leaves = (count + 1) // 2
    nodes = [node("Sigmoid", ["x"], f"v{i}") for i in range(leaves)]
    level = [f"v{i}" for i in range(leaves)]
    while len(level) > 1:
        pairs, rest = zip(level[::2], level[1::2]), level[len(level) // 2 * 2:]
        level = []
        for a, b in pairs:
            level.append(f"s{len(nodes)}")
            nodes.append(node("Add", [a, b], level[-1]))
        level += rest
    return graph(nodes, level[0])


def constants(count):
    nodes = [node("Add", [f"v{i - 1}" if i else "x", f"c{i}"], f"v{i}") for i in range(count)]
    return graph(nodes, f"v{count - 1}", [floats(f"c{i}", [i, 1, 2, 3]) for i in range(count)])


def branches(count):
    """A chain of Ifs on one constant, of three nodes each with their branches."""
    steps = max(1, count // 3)
    nodes = []
    for i in range(steps):
        before = f"v{i - 1}" if i else "x"
        sides = b"".join(field(5, field(1, name) + field(6, field(1, node(op, [before], "r")) + field(2, "b")
                                                         + field(12, value_info("r"))) + field(20, 5))
                         for name, op in (("then_branch", "Sigmoid"), ("else_branch", "Tanh")))
        nodes.append(node("If", ["on"], f"v{i}", sides))
    on = field(2, 9) + field(8, "on") + field(9, b"\x01")
    return graph(nodes, f"v{steps - 1}", [on])


SHAPES = {"chain": chain, "fan": fan, "constants": constants, "branches": branches}


# ---- measuring ----------------------------------------------------------------------------------------------------
def measured(command):
    """Wall and CPU seconds and peak resident bytes of a command; its error output where it fails."""
    with tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        failure = errors.read().decode(errors="replace").strip() if child.returncode else ""
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss * 1024, "failure": failure}


def least_cpu(command, what):
    rows = [measured(command) for _ in range(3)]
    if rows[0]["failure"]:
        sys.exit(f"{what}: {rows[0]['failure']}")
    return min(row["cpu"] for row in rows)


def exponent(points):
    """Least squares of log(seconds) over log(nodes)."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(max(s, 1e-4)) for _, s in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def import_command(args, path):
    return [args.headway, "inspect", str(path)]


def build_command(args, path, engine, data=None):
    return [args.headway, "build", str(path), "-o", str(engine), *(["--data", str(data)] if data else [])]


def cost_of_model(args, scratch):
    size = args.model.stat().st_size
    rows = {"import": measured(import_command(args, args.model)),
            "import and build": measured(build_command(args, args.model, scratch / "e.hwe", args.data))}
    for what, row in rows.items():
        row["peak_over_file"] = row["peak"] / size
        print(f"{args.model.name} ({size / 2**20:.1f} MiB): {what} {row['seconds']:.2f} s (CPU {row['cpu']:.2f} s), peak {row['peak'] / 2**20:.0f} MiB "
              f"= {row['peak_over_file']:.2f} x the file" + (f"; FAILED: {row['failure']}" if row["failure"] else ""))
    return {"model": str(args.model), "bytes": size, **rows}


def growth(args, scratch, name):
    path = scratch / f"{name}.onnx"
    path.write_bytes(model(SHAPES[name](1)))
    commands = {"import": lambda: import_command(args, path)}
    if args.build:
        commands["import and build"] = lambda: build_command(args, path, scratch / "e.hwe")
    base = {what: least_cpu(command(), name) for what, command in commands.items()}
    points = {what: [] for what in commands}
    for count in args.nodes:
        path.write_bytes(model(SHAPES[name](count)))
        for what, command in commands.items():
            points[what].append((count, least_cpu(command(), f"{name} of {count} nodes") - base[what]))
    for what, list_of in points.items():
        cells = ", ".join(f"{count}: {seconds:.3f} s" for count, seconds in list_of)
        fitted = f", exponent {exponent(list_of):.2f}" if len(list_of) > 1 else ""
        print(f"{name}, {what}: {cells}{fitted}", flush=True)
    return {what: {"points": list_of, "exponent": exponent(list_of) if len(list_of) > 1 else None}
            for what, list_of in points.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, help="data that binds the model's open dimensions")
    parser.add_argument("--nodes", default="1000,10000,100000", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--shapes", default=",".join(SHAPES), help="default: all")
    parser.add_argument("--build", action="store_true", help="build the synthetic graphs, too")
    parser.add_argument("--headway", default=str(ROOT / "build/release/headway"))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if args.model:
            results["model"] = cost_of_model(args, scratch)
        for name in filter(None, args.shapes.split(",")):
            if name not in SHAPES:
                parser.error(f"no shape {name}: {', '.join(SHAPES)}")
            results[name] = growth(args, scratch, name)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
