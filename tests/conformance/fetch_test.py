#!/usr/bin/env python3
"""tools/conformance/fetch.py unpacks plain files and refuses archives that reach outside, hold links or are too large.

usage: fetch_test.py FETCH_PY
"""
import importlib.util
import io
import pathlib
import stat
import sys
import tempfile
import unittest
import zipfile

INSIDE = "onnx/data/"
fetch = None  # the module under test


def archive_of(members: dict, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipFile:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
    return zipfile.ZipFile(memory)


class Unpack(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dest = pathlib.Path(self.folder.name) / "a" / "cases"

    def tearDown(self):
        self.folder.cleanup()

    def refused(self, archive, most_bytes=1000):
        with self.assertRaises(RuntimeError):
            fetch.unpack(archive, INSIDE, self.dest, most_bytes)
        self.assertEqual([p for p in pathlib.Path(self.folder.name).rglob("*") if p.is_file()], [])

    def test_takes_the_files_of_the_folder_alone(self):
        archive = archive_of({INSIDE + "node/x/model.onnx": b"m", "onnx/other.py": b"o"})
        self.assertEqual(fetch.unpack(archive, INSIDE, self.dest, 1000), 1)
        self.assertEqual((self.dest / "node/x/model.onnx").read_bytes(), b"m")
        self.assertFalse((self.dest / "other.py").exists())

    def test_refuses_members_outside(self):
        for name in ("../out", "x/../../out", "/etc/out", "x//y", "./x", "..\\out", "x/.."):
            with self.subTest(name):
                self.refused(archive_of({INSIDE + "good": b"g", INSIDE + name: b"bad"}))

    def test_refuses_links_and_devices(self):
        for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR):
            with self.subTest(kind):
                self.refused(archive_of({INSIDE + "x": b"/etc/passwd"}, kind | 0o777))

    def test_refuses_what_unpacks_to_too_much(self):
        self.refused(archive_of({INSIDE + "x": bytes(600), INSIDE + "y": bytes(600)}))

    def test_checks_the_hash(self):
        wheel = pathlib.Path(self.folder.name) / "wheel"
        wheel.write_bytes(b"abc")
        # sha256 of "abc" by FIPS 180-2, appendix B.1
        fetch.check(wheel, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        with self.assertRaises(RuntimeError):
            fetch.check(wheel, "0" * 64)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("fetch", sys.argv.pop(1))
    fetch = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fetch)
    unittest.main()
