# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""What a case is: a kernel, its launch, its arguments and the NumPy function that computes the same.

Inputs come from a small generator that the Go test implements too: word i of an array is
splitmix64(seed + i), and a rule turns the word into an element.
"""

import ml_dtypes
import numpy as np

TYPES = {
    "u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16, "u32": np.uint32,
    "s32": np.int32, "u64": np.uint64, "s64": np.int64, "f32": np.float32, "f64": np.float64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "v64": np.uint64,
}
FLOATS = {"f32", "f64", "f16", "bf16", "e4m3", "e5m2"}

# Masks that make any bits a float of magnitude 1/8 to 2 with a random sign and mantissa.
UNIT = {
    "f16": (0x8FFF, 0x3000), "bf16": (0x81FF, 0x3E00), "f32": (0x81FFFFFF, 0x3E000000),
    "f64": (0x803FFFFFFFFFFFFF, 0x3FC0000000000000), "e4m3": (0x9F, 0x20), "e5m2": (0x8F, 0x30),
}


def words(seed, n):
    """Returns n words of splitmix64."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


class Rule:
    """How words become elements."""

    def __init__(self, kind, **values):
        self.kind, self.values = kind, values

    def make(self, dtype, seed, n):
        t, v = TYPES[dtype], self.values
        size = np.dtype(t).itemsize
        if self.kind == "const":
            return np.full(n, v["value"]).astype(t)
        if self.kind == "fill":
            return np.full(n * size, v["byte"], np.uint8).view(t)
        w = words(seed, n)
        if self.kind == "bits":
            raw = (w & np.uint64(v["and"])) | np.uint64(v["or"])
            return raw.astype({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[size]).view(t)
        if self.kind == "ints":
            span = np.uint64(v["high"] - v["low"])
            return (((w >> np.uint64(20)) % span).astype(np.int64) + v["low"]).astype(t)
        if self.kind == "range":
            part = (w >> np.uint64(40)).astype(np.float64) * 2.0**-24
            return (v["low"] + part * (v["high"] - v["low"])).astype(t)
        raise ValueError(self.kind)


def bits():
    """Any bits."""
    return Rule("bits", **{"and": 2**64 - 1, "or": 0})


def unit(dtype):
    """Floats of magnitude 1/8 to 2."""
    a, o = UNIT[dtype]
    return Rule("bits", **{"and": a, "or": o})


def ints(low, high):
    """Integers from low to high - 1; for float types, these values."""
    return Rule("ints", low=low, high=high)


def reals(low, high):
    """Floats between low and high."""
    return Rule("range", low=low, high=high)


class Arg:
    """A buffer, a number, or a tensor map of a buffer."""

    def __init__(self, role, dtype, count=0, rule=None, **more):
        self.role, self.dtype, self.count, self.rule, self.more = role, dtype, count, rule, more


def In(dtype, count, rule=None):
    """A buffer that the kernel reads. A NumPy array as rule is stored."""
    if rule is None:
        rule = unit(dtype) if dtype in FLOATS else bits()
    return Arg("in", dtype, count, rule)


def Out(dtype, count, abs=0.0, rel=0.0, why=""):
    """A buffer that the kernel writes whole. It starts as bytes 0xCD."""
    return Arg("out", dtype, count, Rule("fill", byte=0xCD), abs=abs, rel=rel, why=why)


def InOut(dtype, count, rule=None, abs=0.0, rel=0.0, why=""):
    """A buffer that the kernel reads and writes."""
    a = In(dtype, count, rule)
    a.role, a.more = "out", {"abs": abs, "rel": rel, "why": why}
    return a


def Zero(dtype, count):
    """Zeroed memory whose contents do not matter afterwards."""
    return Arg("in", dtype, count, Rule("const", value=0))


def Num(dtype, value):
    """A number."""
    return Arg("num", dtype, value=value)


def Map(buffer, dtype, sizes, box, swizzle=0):
    """A tensor map of an argument by its index."""
    return Arg("map", dtype, buffer=buffer, sizes=list(sizes), box=list(box), swizzle=swizzle)


def Hidden(arg):
    """A buffer that only a tensor map names."""
    arg.more["hidden"] = True
    return arg


class Case:
    def __init__(self, name, source, kernel, targets, grid, block, args, ref, **more):
        self.name, self.source, self.kernel = name, source, kernel
        self.targets, self.args, self.ref, self.more = targets, args, ref, more
        self.grid, self.block = three(grid), three(block)


def three(x):
    x = [x] if isinstance(x, int) else list(x)
    return x + [1] * (3 - len(x))


CASES = []


def case(kernel, source, grid, block, args, ref, targets="sm_80", name=None, **more):
    """Declares a case. Targets are words: a target, with a dash and a variant where flags differ."""
    for other in CASES:
        assert (other.name, other.source) != (name or kernel, source), kernel
    CASES.append(Case(name or kernel, source, kernel, targets.split(), grid, block, args, ref, **more))


def seed_of(text):
    """Returns FNV-1a of a text."""
    h = 0xCBF29CE484222325
    for b in text.encode():
        h = (h ^ b) * 0x100000001B3 % 2**64
    return h


def triton(kernel, source, grid, args, ref, targets, constants=None, name=None, **options):
    """Declares a case of Triton with the values of its constants."""
    case(kernel, source, grid, 1, args, ref, targets, name,
         triton={"constants": constants or {}, "options": options})
