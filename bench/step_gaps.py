"""The limit of a profiled step, and why its time is above it, from the step's own data (bench/roofline.py)."""
import math

PRODUCTS = ("Conv", "ConvTranspose", "MatMul", "Gemm")
SMALL_US = 4.0          # below it, entering the step and its loops is a visible part
ENTRY_US = 0.2          # claiming and entering a step, bench_overhead
LANES = {"avx512": 16, "avx512bf16": 16, "avx512vnni": 16, "avx2": 8, "baseline": 4}


def size(desc):
    return math.prod(desc["shape"]) if desc else 0


def lanes_of(kernel):
    return LANES.get(kernel.rsplit(".", 1)[-1], 8)


class Step:
    def __init__(self, facts, held, roof):
        self.facts = facts
        self.number, self.kernel, self.site, self.output = facts["step"], facts["kernel"], facts["site"], facts["output"]
        self.op, self.us = facts["op"], facts["us"]
        self.flops, self.bytes = 1e9 * facts["gflop"], 1e6 * facts["mbytes"]
        self.constant_bytes = min(1e6 * facts["constant_mbytes"], self.bytes)
        self.moved_bytes = self.bytes - self.constant_bytes
        self.constant_level, self.level = level_of(held, roof), level_of(self.moved_bytes, roof)
        self.compute = self.flops / roof["peak_gflops"] / 1e3
        self.memory = (self.constant_bytes / self.constant_level["read_gb_per_s"] + self.moved_bytes / self.level["copy_gb_per_s"]) / 1e3
        self.limit = max(self.compute, self.memory)
        self.gap = max(0.0, self.us - self.limit)
        by_constants = self.constant_bytes > self.moved_bytes
        self.by = "flops" if self.compute >= self.memory else (self.constant_level if by_constants else self.level)["name"]

    def src(self, index):
        src = self.facts["src"]
        return src[index] if index < len(src) else None

    @property
    def dst(self):
        return self.facts["dst"][0] if self.facts["dst"] else None


def level_of(count, roof):
    return next((level for level in roof["levels"] if 0 < count <= level["capacity"]), roof["levels"][-1]) if count else roof["levels"][0]


class Product:
    """A product seen as rows x k x columns, as the layer asks for it."""

    def __init__(self, step):
        a, b, c = step.src(0)["shape"], step.src(1)["shape"], step.dst["shape"]
        self.taps = 1
        if step.op == "Conv":
            self.columns, self.taps = b[0], math.prod(b[2:])
            self.group_channels = b[1]
            self.groups = max(1, a[1] // max(1, b[1]))
            self.rows, self.k = size(step.dst) // max(1, c[1]), b[1] * self.taps
        elif step.op == "ConvTranspose":
            self.columns, self.taps = c[1], math.prod(b[2:])
            self.group_channels, self.groups = a[1], 1
            self.rows, self.k = size(step.src(0)) // max(1, a[1]) * self.taps, a[1]
        else:
            self.columns, self.groups = c[-1] if c else 1, 1
            self.rows = size(step.dst) // max(1, self.columns)
            self.k = a[-2] if step.op == "Gemm" and len(a) > 1 and a[-1] not in b[-2:] else (a[-1] if a else 1)
            self.group_channels = self.k
        self.depthwise = step.op == "Conv" and self.groups > 1 and self.group_channels == 1
        self.flops = 2.0 * self.rows * self.k * self.columns


def cycles_per_us(roof):
    """The clock during the measurement of the peak: two multiply-add units, 512 bits wide or 256."""
    wide = "isa=avx512" in roof["target"] and "fma512=2" in roof["target"]
    return roof["peak_gflops"] * 1e3 / (2 * 2 * (16 if wide else 8))


class Reasons:
    """What costs a step time: known in microseconds, or a fact whose price is not."""

    def __init__(self, step):
        self.step, self.priced, self.facts = step, [], []

    def price(self, us, text):
        if us > 0.03 * self.step.gap and us >= 0.05:
            self.priced.append((us, text))

    def fact(self, text):
        self.facts.append(text)

    def text(self):
        self.priced.sort(key=lambda reason: -reason[0])
        told = [f"{text} (about {us:.1f} us)" for us, text in self.priced[:3]] + self.facts[:2]
        known = sum(us for us, _ in self.priced)
        if known < 0.5 * self.step.gap:
            told.append(f"{self.step.gap - known:.1f} us are not priced")
        return "; ".join(told)


def explain(step, roof):
    if step.flops == 0 and step.bytes == 0:
        return f"no kernel of its own: {step.op} runs as plain operator code"
    reasons = Reasons(step)
    if step.op in PRODUCTS and step.src(1):
        explain_product(step, roof, reasons)
    elif step.op == "Pointwise":
        explain_pointwise(step, roof, reasons)
    elif step.op == "LSTM":
        explain_lstm(step, roof, reasons)
    elif step.kernel.split(".")[-2:-1] == ["copy"]:
        explain_copy(step, reasons)
    else:
        explain_other(step, roof, reasons)
    shorter = min(step.compute, step.memory)
    reasons.price(shorter, f"{'moving its bytes' if step.by == 'flops' else 'its multiply-adds'}, if nothing hides that")
    instructions = step.facts["instructions"]
    if step.op != "Pointwise" and instructions and step.dst:
        reasons.price(size(step.dst) * instructions / lanes_of(step.kernel) / cycles_per_us(roof),
                      f"an epilogue of {instructions} instructions over {size(step.dst)} results")
    if step.us < SMALL_US:
        reasons.price(ENTRY_US, "entering the step")
    return f"{at_speed(step, roof)}: {reasons.text()}"


def at_speed(step, roof):
    if step.by == "flops":
        speed = step.flops / step.us / 1e3
        return f"{speed:.0f} GFLOP/s, {100 * speed / roof['peak_gflops']:.0f} % of the peak"
    return f"{step.bytes / step.us / 1e3:.1f} GB/s, from {step.by}"


def explain_product(step, roof, reasons):
    product, peak, lanes = Product(step), roof["peak_gflops"] * 1e3, lanes_of(step.kernel)
    if product.depthwise:
        reasons.fact(f"depthwise, {product.taps} taps: every multiply-add loads its own pixel, and nothing is reused over channels")
        if product.columns % lanes:
            reasons.fact(f"{product.columns} channels in vectors of {lanes}")
    elif "winograd" in step.kernel:
        ratio = 2.25 if "winograd4" in step.kernel else 4.0      # tile elements for each output: 6x6/4x4, 4x4/2x2
        moved = 2 * ratio * 4.0 * (size(step.src(0)) + size(step.dst))
        reasons.price(moved / step.level["copy_gb_per_s"] / 1e3,
                      f"{step.flops / product.flops:.2f} of the layer's multiply-adds, paid for with {moved / 1e6:.1f} MB of tiles written "
                      "and read by the transforms")
    else:
        explain_tiles(step, product, lanes, peak, reasons)
    src, dst = step.src(0), step.dst
    if src["layout"] != dst["layout"] and len(dst["shape"]) > 2 and size(dst) > dst["shape"][0] * dst["shape"][1]:
        reasons.fact(f"reads {src['layout']}, writes {dst['layout']}")


def explain_tiles(step, product, lanes, peak, reasons):
    # Planar kernels have vectors along a row of the image, dot products along k, all others across the columns.
    planar, dot = ".planar." in step.kernel, ".dot." in step.kernel
    across = f"rows of {step.dst['shape'][-1]} pixels" if planar else f"{product.columns} columns"
    if step.flops > 1.02 * product.flops and not dot:
        # In the limit already, which counts what is executed: told because another kernel would not execute it.
        reasons.fact(f"the limit itself holds {step.flops / product.flops:.2f} times the layer's multiply-adds: {across} in vectors of "
                     f"{lanes}")
    if planar:
        # Vectors that do not begin on a cache line touch two; two loads and two multiply-adds begin in a cycle.
        together = min(8, product.columns)
        vectors = step.flops / 2 / lanes
        reasons.price((vectors / together - vectors / 2) / (peak / 4 / lanes),
                      f"{together} channels share a load, which touches two cache lines")
    if planar and product.columns % 8:
        reasons.fact(f"{product.columns} channels in register tiles of at most 8")
    if dot:
        reasons.fact(f"each result ends in a sum over the lanes, after {product.k / lanes:.0f} vectors of products")
    if step.by == "flops":
        reasons.price(step.compute * 8.0 / product.k, f"sums of {product.k} products, where loading and storing a tile takes as long as 8")
    if product.rows < 12:
        reasons.price(product.flops / 2 / max(1, product.rows) / lanes * (1 / 2) / (peak / 64),
                      f"{product.rows} rows: a vector of weights is loaded for {product.rows} multiply-adds, where 12 fill a tile")
    if product.columns < lanes and step.op != "ConvTranspose" and not planar and not dot:
        reasons.fact(f"{product.columns} columns leave {lanes - product.columns} of {lanes} lanes empty")
    if step.op == "Conv" and product.taps > 1 and product.group_channels <= 4:
        reasons.fact(f"{product.group_channels} input channels: runs of {product.group_channels * 4} bytes of a pixel, or one plane at a time")
    if step.op in ("MatMul", "Gemm") and not step.facts["constant"][1]:
        packed = 2 * 4.0 * size(step.src(1))
        reasons.price(packed / step.level["copy_gb_per_s"] / 1e3,
                      f"the right operand is made at run time: {packed / 2e3:.0f} KB packed in each call")
    if product.rows * product.columns < 12 * 2 * lanes:
        reasons.fact(f"{product.rows} x {product.columns} results are less than one register tile")


def explain_pointwise(step, roof, reasons):
    instructions, elements = step.facts["instructions"], size(step.dst)
    cycles = cycles_per_us(roof)
    lanes = lanes_of(step.kernel)
    reasons.price(elements * instructions / lanes / cycles,
                  f"{instructions} instructions, each a pass of the interpreter over a tile in the first-level cache")
    if step.flops > 8 * instructions * elements:
        reasons.price(step.flops / 2 / lanes / cycles,
                      f"{step.flops / max(1, elements):.0f} operations an element in chains of dependent ones (exp, erf, tanh, division)")
    few = [desc for desc in step.facts["operands"] if 1 < size(desc) < elements]
    if few:
        reasons.fact(f"{len(few)} of {len(step.facts['operands'])} operands are broadcast, row by row")


def explain_lstm(step, roof, reasons):
    steps, batch = step.src(0)["shape"][:2]
    cells = steps * batch * step.src(2)["shape"][-1] * step.src(1)["shape"][0]
    reasons.price(cells * 180 / lanes_of(step.kernel) / cycles_per_us(roof),
                  f"{cells} cells of three sigmoids and two tanh, dependent operations one after another")
    if batch < 3:
        reasons.fact(f"{steps} time steps of {batch} row{'s' if batch > 1 else ''}: each streams all weights for one product and waits for the "
                     "one before")


def explain_copy(step, reasons):
    src, dst = step.src(0), step.dst
    if src and src["layout"] != dst["layout"]:
        run = {"plain": dst["shape"][-1], "nhwc": dst["shape"][1], "nchw8c": 8, "nchw16c": 16}
        reasons.fact(f"from {src['layout']} to {dst['layout']}: reads runs of {4 * run[src['layout']]} bytes, writes runs of "
                     f"{4 * run[dst['layout']]}")
    elif step.op == "Transpose":
        reasons.fact(f"a transpose of {src['shape']} to {dst['shape']}: what is dense on one side is strided on the other")
    else:
        inner = min([desc["shape"][-1] if desc["shape"] else 1 for desc in step.facts["src"] + step.facts["dst"] if desc])
        reasons.fact(f"{step.op} of {step.bytes / 1e3:.0f} KB in rows of {inner} elements")


def explain_other(step, roof, reasons):
    passes = {"Softmax": (3, "maximum, exponentials and their sum, scaling"), "LayerNormalization": (3, "mean, variance, result")}
    if step.op in passes:
        count, names = passes[step.op]
        elements, row = size(step.dst), step.dst["shape"][-1]
        reasons.price(count * elements / lanes_of(step.kernel) / cycles_per_us(roof), f"{count} passes over each row: {names}")
        if step.op == "Softmax":
            reasons.price(20 * elements / 2 / lanes_of(step.kernel) / cycles_per_us(roof), "about 20 operations for each exponential")
        if row < 128:
            reasons.fact(f"rows of {row}: each ends in sums over the lanes of a vector")
    elif step.op in ("MaxPool", "AveragePool"):
        reasons.fact(f"windows in layout {step.src(0)['layout']}: {size(step.src(0)) / max(1, size(step.dst)):.1f} inputs for each of "
                     f"{size(step.dst)} outputs")
    elif step.op in ("Resize", "Upsample"):
        reasons.fact(f"{size(step.dst)} outputs placed by tables of positions")
    elif step.op == "Gather":
        reasons.fact(f"{size(step.src(1))} rows of {step.bytes / 2 / max(1, size(step.src(1))) / 1e3:.1f} KB, each a jump in a table of "
                     f"{size(step.src(0)) * 4 / 1e6:.1f} MB")
    elif step.dst:
        reasons.fact(f"{step.op} to {step.dst['shape']}")
