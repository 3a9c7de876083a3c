#!/usr/bin/env python3
"""Fetch the backend test cases of ONNX 1.22.

They sit inside the Python package `onnx`. This script asks pip for its wheel, checks the wheel's sha256, and unpacks the
cases to DEST (node, simple, pytorch-operator, pytorch-converted, light, real). Does nothing when DEST holds them already.

usage: fetch.py DEST
"""
import argparse
import hashlib
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "onnx==1.22.0"
# One file for every machine, whatever its own Python: nothing of it is run.
PLATFORM = ["--python-version", "3.11", "--implementation", "cp", "--abi", "cp311", "--platform", "manylinux_2_28_x86_64"]
SHA256 = "1d0a2bdb15eb2b3cb65c438f3423d9620d14fdce32f92380e6bb1b2e09568ef5"
INSIDE = "onnx/backend/test/data/"
MOST_BYTES = 512 << 20  # of all unpacked files; they have 50 MB


def download(folder: pathlib.Path) -> pathlib.Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
               "--disable-pip-version-check", *PLATFORM, "-d", str(folder), PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"pip could not download {PACKAGE}: {last}")
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise RuntimeError(f"expected one wheel of {PACKAGE}, found {len(wheels)}")
    return wheels[0]


def check(wheel: pathlib.Path, wanted: str) -> None:
    got = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if got != wanted:
        raise RuntimeError(f"wrong sha256 of {wheel.name}: expected {wanted}, got {got}")


def unpack(archive: zipfile.ZipFile, inside: str, dest: pathlib.Path, most_bytes: int) -> int:
    """Write the files below `inside` to dest and return their number. Refuses the whole archive when a member would
    leave dest, is a link or another special file, or when the files together pass most_bytes."""
    members = [m for m in archive.infolist() if m.filename.startswith(inside) and not m.is_dir()]
    if sum(m.file_size for m in members) > most_bytes:
        raise RuntimeError(f"the archive unpacks to more than {most_bytes} bytes")
    for member in members:
        parts = member.filename[len(inside):].split("/")
        if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
            raise RuntimeError(f"the archive has a member outside its folder: {member.filename!r}")
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise RuntimeError(f"the archive has a member that is no plain file: {member.filename!r}")
    for member in members:
        target = dest.joinpath(*member.filename[len(inside):].split("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        # zipfile stops at the size that the archive states for a member.
        with archive.open(member) as source, open(target, "xb") as copy:
            shutil.copyfileobj(source, copy)
    return len(members)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dest", type=pathlib.Path, help="folder for the cases")
    dest = parser.parse_args().dest
    marker = dest / "sha256"
    if marker.exists() and marker.read_text() == SHA256:
        print("onnx cases present")
        return 0
    part = dest.with_name(dest.name + ".part")
    try:
        with tempfile.TemporaryDirectory() as cache:
            wheel = download(pathlib.Path(cache))
            check(wheel, SHA256)
            shutil.rmtree(part, ignore_errors=True)
            with zipfile.ZipFile(wheel) as archive:
                count = unpack(archive, INSIDE, part, MOST_BYTES)
        (part / "sha256").write_text(SHA256)
        shutil.rmtree(dest, ignore_errors=True)
        part.rename(dest)
    except (RuntimeError, OSError, zipfile.BadZipFile) as error:
        print(f"fetch: {error}", file=sys.stderr)
        return 2
    print(f"onnx cases fetched: {count} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
