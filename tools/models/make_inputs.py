#!/usr/bin/env python3
"""Write tuning and held-out data for the models in models.json.

For each model and shape profile this makes two disjoint groups of samples, `tuning` and `heldout`, as ONNX test data:

  OUT/<model id>/<profile>/<group>/test_data_set_<k>/input_<i>.pb  (and output_<i>.pb with --references)

Inputs follow the order of the model's inputs. They come from fixed seeds and look like what the model was trained for:
rendered text, notes, speech-like sound, pictures, files, token ids; siblings get the same samples. With --references
the outputs are those of ONNX Runtime with every graph optimisation off, on one thread; without, Headway computes its
own references.

usage: make_inputs.py MODELS_DIR OUT [--only ID[,ID...] | --tier core|extra|all] [--profiles NAME[,NAME...]]
                      [--samples N] [--references]
needs: numpy; Pillow with a DejaVu font for real text (plain strokes otherwise); onnxruntime for --references
"""
import argparse
import gzip
import hashlib
import io
import json
import pathlib
import sys
import zipfile
import zlib

import numpy as np

try:
    from PIL import Image, ImageDraw, ImageFont
    FONTS = [ImageFont.truetype(f"/usr/share/fonts/truetype/dejavu/{name}.ttf", 64)
             for name in ("DejaVuSans", "DejaVuSerif", "DejaVuSansMono", "DejaVuSans-Bold")]
    RENDERER = "pillow+dejavu"
except (ImportError, OSError):
    RENDERER = "strokes"

WORDS = ("the of report invoice total engine kernel layout price street Monday open 2026 shipping north value order "
         "water garden model tuner route check paper light number city station seven red blue window table").split()


# ---- text -------------------------------------------------------------------------------------------------------
def phrase(rng, words):
    picked = [str(rng.choice(WORDS)) for _ in range(words)]
    if rng.random() < 0.5:
        picked.append(f"{rng.integers(1, 9999)}.{rng.integers(0, 99):02d}")
    return " ".join(picked)


def text_mask(rng, text, height):
    """Ink in 0..1 of one line of text, `height` pixels high."""
    if RENDERER == "strokes":
        ink = np.zeros((height, max(2, int(len(text) * height * 0.5))), np.float32)
        for x in range(2, ink.shape[1] - 3, max(4, height // 5)):
            top, bottom = sorted(rng.integers(height // 8, height - height // 8, 2))
            ink[top:bottom + 1, x:x + 2] = 1
            ink[bottom:bottom + 2, x:x + height // 5] = 1
        return ink
    font = FONTS[rng.integers(len(FONTS))]
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (right - left + 12, bottom - top + 12), 0)
    ImageDraw.Draw(image).text((6 - left, 6 - top), text, fill=255, font=font)
    width = max(1, round(image.width * height / image.height))
    return np.asarray(image.resize((width, height), Image.BILINEAR), np.float32) / 255


def paint(canvas, mask, y, x, colour):
    h, w = min(mask.shape[0], canvas.shape[0] - y), min(mask.shape[1], canvas.shape[1] - x)
    if h > 0 and w > 0:
        part = canvas[y:y + h, x:x + w]
        part += mask[:h, :w, None] * (np.float32(colour) - part)


def paper(rng, height, width):
    """A light, slightly uneven sheet (values 0..255) and a dark ink colour."""
    base = rng.uniform(190, 250, 3) + np.linspace(-12, 12, width)[None, :, None] * rng.uniform(-1, 1)
    sheet = np.broadcast_to(base, (height, width, 3)) + rng.normal(0, 4, (height, width, 3))
    return sheet.astype(np.float32), rng.uniform(0, 90, 3)


def page_image(rng, height, width):
    sheet, ink = paper(rng, height, width)
    y = int(rng.integers(6, 30))
    while y < height - 14:
        size = int(rng.integers(12, 34))
        paint(sheet, text_mask(rng, phrase(rng, rng.integers(1, 9)), size), y, int(rng.integers(4, width // 3)), ink)
        y += size + int(rng.integers(6, 40))
    return sheet


def normalise(image):
    return ((np.clip(image, 0, 255) / 255 - 0.5) / 0.5).transpose(2, 0, 1)


def page(rng, shapes, values, k):
    n, _, h, w = shapes["x"]
    return {"x": np.stack([normalise(page_image(rng, h, w)) for _ in range(n)]).astype(np.float32)}


def line(rng, shapes, values, k):
    n, _, h, w = shapes["x"]
    batch = np.zeros((n, 3, h, w), np.float32)          # the rest of a short line stays 0, as OCR pipelines pad it
    for b in range(n):
        sheet, ink = paper(rng, h, w)
        mask = text_mask(rng, phrase(rng, max(1, w // 130 + int(rng.integers(0, 2)))), h - 8)
        paint(sheet, mask, 4, 4, ink)
        if w == 192 and rng.random() < 0.5:             # the upside-down classifier
            sheet = sheet[::-1, ::-1]
        used = min(w, mask.shape[1] + 8) if w != 192 else w
        batch[b, :, :, :used] = normalise(sheet)[:, :, :used]
    return {"x": batch}


# ---- pictures ---------------------------------------------------------------------------------------------------
def photo(rng, shapes, values, k):
    (name, (n, h, w, _)), = shapes.items()
    yy, xx = np.mgrid[0:h, 0:w].astype(np.float32)
    batch = []
    for _ in range(n):
        a, b = rng.uniform(0, 255, (2, 3))
        picture = a + (b - a) * (yy / h)[..., None]                                     # sky-like gradient
        for _ in range(int(rng.integers(4, 12))):                                       # blobs and boxes
            cy, cx, r, colour = rng.uniform(0, h), rng.uniform(0, w), rng.uniform(8, 60), rng.uniform(0, 255, 3)
            inside = ((yy - cy) ** 2 + (xx - cx) ** 2 < r * r) if rng.random() < 0.5 else \
                     ((abs(yy - cy) < r) & (abs(xx - cx) < r / 2))
            picture[inside] = colour + (xx[inside] - cx)[:, None] * rng.uniform(-0.8, 0.8)
        picture += 18 * np.sin(xx * rng.uniform(0.05, 0.6) + yy * rng.uniform(0.05, 0.6))[..., None]
        picture += rng.normal(0, 6, picture.shape)
        batch.append(np.clip(picture, 0, 255)[:, :, ::-1] - np.float32([104, 117, 123]))  # BGR minus mean
    return {name: np.stack(batch).astype(np.float32)}


# ---- sound ------------------------------------------------------------------------------------------------------
def voice(rng, samples, rate):
    """A gliding harmonic tone with formant-like weights, plus noise."""
    t = np.arange(samples) / rate
    f0 = rng.uniform(85, 300) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(1, 5) * t + rng.uniform(0, 6)))
    phase = 2 * np.pi * np.cumsum(f0) / rate
    formants = rng.uniform([300, 900, 2200], [800, 2000, 3200])
    sound = np.zeros(samples)
    for harmonic in range(1, 40):
        f = harmonic * f0.mean()
        if f < rate / 2:
            weight = sum(np.exp(-((f - c) / 180) ** 2) for c in formants) + 0.05 / harmonic
            sound += weight * np.sin(harmonic * phase + rng.uniform(0, 6))
    return 0.25 * sound / (np.abs(sound).max() + 1e-9) + rng.normal(0, 0.005, samples)


def vad(rng, shapes, values, k):
    n, samples = shapes["input"]
    rate = values.get("sr", 16000)
    frames = [voice(rng, samples, rate) if (k + b) % 4 else rng.normal(0, 0.02, samples) for b in range(n)]
    out = {"input": np.stack(frames).astype(np.float32),
           "state": np.tanh(0.5 * rng.standard_normal(shapes["state"])).astype(np.float32)}
    if "sr" in shapes:
        out["sr"] = np.array(rate, np.int64)
    return out


def music(rng, shapes, values, k):
    (name, (n, samples, _)), = shapes.items()
    rate, batch = 22050, []
    for _ in range(n):
        sound = rng.normal(0, 0.004, samples)
        for _ in range(int(rng.integers(3, 14))):
            start, length = int(rng.integers(0, samples - 4000)), int(rng.integers(3000, 20000))
            t = np.arange(min(length, samples - start)) / rate
            f = 440 * 2 ** ((rng.integers(36, 90) - 69) / 12)
            envelope = np.minimum(t / 0.01, 1) * np.exp(-t * rng.uniform(1, 5))
            sound[start:start + len(t)] += 0.15 * envelope * sum(np.sin(2 * np.pi * f * h * t) / h for h in (1, 2, 3, 4))
        batch.append(np.clip(sound, -1, 1))
    return {name: np.stack(batch)[..., None].astype(np.float32)}


def pitch(rng, shapes, values, k):
    return {"audio": voice(rng, shapes["audio"][1], 16000)[None].astype(np.float32),
            "fmin": np.float32(values["fmin"]), "fmax": np.float32(values["fmax"])}


def vfl(rng, shapes, values, k):
    """Log-mel frames (smooth along time and frequency), a unit speaker vector and a plausible LSTM state."""
    out = {}
    for name, shape in shapes.items():
        x = rng.standard_normal(shape)
        if "mel" in name:
            x = -4 + 2 * np.sin(np.arange(shape[-1]) / 9 + rng.uniform(0, 6)) + 0.8 * np.cumsum(x, axis=1) / 8 + 0.3 * x
        elif name == "dvec":
            x /= np.linalg.norm(x)
        else:
            x = np.tanh(0.5 * x)
        out[name] = x.astype(np.float32)
    return out


# ---- files ------------------------------------------------------------------------------------------------------
def some_file(rng, kind):
    names = [str(w) for w in rng.choice(WORDS, 40)]
    numbers = rng.integers(0, 1000, 40)
    pairs = list(zip(names, numbers.tolist()))
    if kind == "json":
        text = json.dumps([{"name": n, "value": v, "tags": names[:3]} for n, v in pairs], indent=1)
    elif kind == "python":
        text = "import os\nimport sys\n\n" + "\n".join(
            f"def {n}_{v}(x, y=None):\n    if x is None:\n        return {v}\n    return [x * i for i in range({v})]\n" for n, v in pairs)
    elif kind == "c":
        text = "#include <stdio.h>\n#include <stdlib.h>\n\n" + "\n".join(
            f"static int {n}_{v}(const char *s, int n) {{\n  for (int i = 0; i < n; ++i) printf(\"%d\\n\", s[i]);\n  return {v};\n}}\n" for n, v in pairs)
    elif kind == "html":
        text = "<!DOCTYPE html>\n<html><head><title>" + names[0] + "</title></head><body>\n" + "\n".join(
            f"<div class=\"{n}\"><p>{n} {v}</p><a href=\"#{n}\">{n}</a></div>" for n, v in pairs) + "\n</body></html>\n"
    elif kind == "csv":
        text = "id,name,value,price\n" + "\n".join(f"{i},{n},{v},{v / 7:.2f}" for i, (n, v) in enumerate(pairs))
    elif kind == "xml":
        text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<items>\n" + "\n".join(
            f"  <item id=\"{v}\"><name>{n}</name></item>" for n, v in pairs) + "\n</items>\n"
    elif kind == "shell":
        text = "#!/bin/bash\nset -euo pipefail\n" + "\n".join(
            f"if [ -f \"$1/{n}\" ]; then\n  echo \"{n} {v}\" >> log.txt\nfi" for n, v in pairs)
    elif kind == "png":
        raw = rng.integers(0, 256, (32, 1 + 32 * 3), dtype=np.uint8)
        raw[:, 0] = 0
        def chunk(tag, body):
            return len(body).to_bytes(4, "big") + tag + body + zlib.crc32(tag + body).to_bytes(4, "big")
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", (32).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0")
                + chunk(b"IDAT", zlib.compress(raw.tobytes())) + chunk(b"IEND", b""))
    elif kind == "gzip":
        return gzip.compress(rng.integers(0, 64, 4000, dtype=np.uint8).tobytes(), mtime=0)
    elif kind == "zip":
        box = io.BytesIO()
        with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
            for n, v in pairs[:12]:
                archive.writestr(zipfile.ZipInfo(f"{n}/{v}.dat"), rng.bytes(200))
        return box.getvalue()
    return text.encode()


FILE_KINDS = "json python c html csv xml shell png gzip zip".split()


def file_bytes(rng, shapes, values, k):
    (name, (n, width)), = shapes.items()
    half, out = width // 2, np.full((n, width), 256, np.int32)              # 256 is the padding value
    for b in range(n):
        data = np.frombuffer(some_file(rng, FILE_KINDS[(k + b) % len(FILE_KINDS)]).strip(), np.uint8)
        begin, end = data[:half], data[-half:]
        out[b, :len(begin)] = begin
        out[b, width - len(end):] = end
    return {name: out}


# ---- tokens -----------------------------------------------------------------------------------------------------
def zipf_ids(rng, count, low, high):
    return low + np.minimum(rng.zipf(1.3, count) - 1, high - low - 1) * 7919 % (high - low)


def bert(rng, shapes, values, k):
    n, length = shapes["input_ids"]
    out = {name: np.zeros(shapes[name], np.int64) for name in shapes}
    for b in range(n):
        used = length if (k + b) % 2 == 0 else int(rng.integers(length // 2, length + 1))   # half of them are padded
        out["input_ids"][b, :used] = [101, *zipf_ids(rng, used - 2, 1000, 29999), 102]
        out["attention_mask"][b, :used] = 1
        if "token_type_ids" in out and b % 2:                                               # some are sentence pairs
            out["token_type_ids"][b, used // 2:used] = 1
    return out


def t5(rng, shapes, values, k):
    out = {}
    for name, shape in shapes.items():
        if name == "input_ids":
            out[name] = zipf_ids(rng, shape, 3, 32100).astype(np.int64)
            out[name][:, -1] = 1
        elif "mask" in name:
            out[name] = np.ones(shape, np.int64)
            out[name][:, shape[1] - (k % 4) * shape[1] // 8:] = 0
        else:
            out[name] = (0.2 * rng.standard_normal(shape)).astype(np.float32)
    return out


def tts(rng, shapes, values, k):
    tokens = rng.integers(43, 158, shapes["tokens"])                      # letter-like phonemes
    tokens[:, rng.integers(2, shapes["tokens"][1] - 2, 4)] = 16           # spaces
    tokens[:, [0, -1]] = 0
    return {"tokens": tokens.astype(np.int64), "style": (0.05 * rng.standard_normal(shapes["style"])).astype(np.float32),
            "speed": np.full(shapes["speed"], values["speed"], np.float32)}


# ---- writing ----------------------------------------------------------------------------------------------------
ONNX_TYPES = {"float32": 1, "int32": 6, "int64": 7, "float64": 11}


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def tensor_proto(array, name):
    """A TensorProto: dims 1 (repeated), data_type 2, name 8, raw_data 9."""
    array = np.asarray(array, order="C")            # ascontiguousarray would make a scalar one-dimensional
    body = b"".join(b"\x08" + varint(d) for d in array.shape) + b"\x10" + varint(ONNX_TYPES[array.dtype.name])
    for field, data in ((8, name.encode()), (9, array.tobytes())):
        body += varint(field << 3 | 2) + varint(len(data)) + data
    return body


def reference_session(path):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def make(model, profile, group, k):
    shapes = {name: tuple(shape) for name, shape in profile["inputs"].items()}
    key = f"{model['data']}|{sorted(shapes.items())}|{profile.get('values')}|{group}|{k}"
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little"))
    feeds = globals()[model["data"]](rng, shapes, profile.get("values", {}), k)
    for name, shape in shapes.items():
        feeds[name] = np.asarray(feeds[name])
        if feeds[name].shape != shape:
            raise SystemExit(f"{model['id']} {name}: made {feeds[name].shape}, wanted {shape}")
    return feeds


def write(folder, prefix, values, names):
    for i, (value, name) in enumerate(zip(values, names)):
        (folder / f"{prefix}_{i}.pb").write_bytes(tensor_proto(np.asarray(value), name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=pathlib.Path, help="folder with <id>.onnx files")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", help="comma-separated model ids")
    parser.add_argument("--tier", choices=["core", "extra", "all"], default="core", help="default core: the benchmark")
    parser.add_argument("--profiles", help="comma-separated profile names")
    parser.add_argument("--samples", type=int, default=6, help="samples per group (default 6)")
    parser.add_argument("--references", action="store_true", help="write reference outputs by ONNX Runtime")
    args = parser.parse_args()

    table = json.loads(pathlib.Path(__file__).with_name("models.json").read_text())["models"]
    if args.only:
        unknown = set(args.only.split(",")) - {m["id"] for m in table}
        if unknown:
            parser.error("unknown model id: " + ", ".join(sorted(unknown)))
        table = [m for m in table if m["id"] in args.only.split(",")]
    elif args.tier != "all":
        table = [m for m in table if m["tier"] == args.tier]
    for model in table:
        path = args.models / f"{model['id']}.onnx"
        if args.references and not path.exists():
            print(f"{model['id']}: {path} is missing, run fetch.py first", file=sys.stderr)
            return 1
        session = reference_session(path) if args.references else None
        for profile in model["profiles"]:
            if args.profiles and profile["name"] not in args.profiles.split(","):
                continue
            names = list(profile["inputs"])
            for group in ("tuning", "heldout"):
                for k in range(args.samples):
                    folder = args.out / model["id"] / profile["name"] / group / f"test_data_set_{k}"
                    feeds = make(model, profile, group, k)
                    folder.mkdir(parents=True, exist_ok=True)
                    write(folder, "input", [feeds[n] for n in names], names)
                    if session:
                        outputs = [o.name for o in session.get_outputs()]
                        write(folder, "output", session.run(None, feeds), outputs)
            print(f"{model['id']:16} {profile['name']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
