# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""usage: kernels.py FOLDER < names of files that need not be made

Compiles the kernels below to PTX, for several architectures and numbers of warps and stages.
No GPU is needed.
"""

import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def softmax(o, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def norm(o, x, w, b, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row * n + i, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mean, 0.0)
    s = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(o + row * n + i, d * s * tl.load(w + i, mask=m) + tl.load(b + i, mask=m), mask=m)


@triton.jit
def product(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * sa + rk[None, :]
    pb = b + rk[:, None] * sb + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(pa, mask=rk[None, :] < K - k, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * sb
    tl.store(c + rm[:, None] * sc + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def tensors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([m, k]), db.load([k, n]), acc)
    dc.store([m, n], acc.to(tl.float16))


@triton.jit
def attention(q, k, v, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    x = tl.load(q + rm[:, None] * D + rd[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for j in range(0, n, BN):
        rn = j + tl.arange(0, BN)
        s = tl.dot(x, tl.load(k + rn[None, :] * D + rd[:, None])) * scale
        s = tl.where(rm[:, None] >= rn[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        f = tl.exp2(top - new)
        total = total * f + tl.sum(p, 1)
        acc = acc * f[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + rn[:, None] * D + rd[None, :]), acc)
        top = new
    tl.store(o + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def scans(x, o, i, n, BLOCK: tl.constexpr):
    r = tl.arange(0, BLOCK)
    v = tl.load(x + r, mask=r < n, other=0.0)
    tl.store(o + r, tl.cumsum(v, 0))
    tl.store(o + BLOCK + r, tl.associative_scan(v, 0, plus, reverse=True))
    tl.store(o + 2 * BLOCK + r, tl.sort(v))
    tl.store(i + r, tl.argmax(v, 0) + tl.argmin(v, 0))
    tl.store(i + BLOCK + r, tl.histogram(tl.load(i + r), BLOCK))


@triton.jit
def atomics(x, f, n, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = r < n
    v = tl.load(x + r, mask=m)
    tl.atomic_add(x + v, 1, mask=m)
    tl.atomic_max(x + v + 1, v, mask=m, sem="relaxed")
    tl.atomic_cas(x + v + 2, v, v + 1, sem="acquire", scope="cta")
    tl.atomic_xchg(x + v + 3, v, mask=m, sem="release", scope="sys")
    tl.atomic_add(f + r, tl.load(f + r, mask=m), mask=m, sem="relaxed")
    tl.debug_barrier()


@triton.jit
def random(o, seed, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.rand(seed, r)
    g = tl.randn(seed + 1, r)
    tl.store(o + r, tl.where(u > 0.5, g, tl.sigmoid(u)) + tl.erf(g) + tl.sin(g) * tl.log(u) + tl.rsqrt(u))


@triton.jit
def prints(x, n, BLOCK: tl.constexpr):
    r = tl.arange(0, BLOCK)
    v = tl.load(x + r, mask=r < n)
    tl.device_print("value", v)
    tl.device_assert(v < 100, "too large")
    tl.store(x + r, tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $1, 5;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1))


SIZES = {"M": "i32", "N": "i32", "K": "i32", "sa": "i32", "sb": "i32", "sc": "i32"}


def units():
    """Yields name, function, signature, constants, capability, options."""
    everywhere = [75, 80, 86, 89, 90, 100, 120]
    for cap in everywhere:
        for kind in ("fp32", "fp16", "i32", "fp64", "i8"):
            if kind in ("i8", "fp64") and cap not in (75, 90, 120):
                continue
            yield f"add_{kind}", add, {"x": "*" + kind, "y": "*" + kind, "o": "*" + kind, "n": "i32"}, {"BLOCK": 1024}, cap, {}
        yield "softmax", softmax, {"o": "*fp32", "x": "*fp32", "stride": "i32", "n": "i32"}, {"BLOCK": 2048}, cap, {"num_warps": 8}
        yield "norm", norm, {"o": "*fp16", "x": "*fp16", "w": "*fp32", "b": "*fp32", "n": "i32", "eps": "fp32"}, {"BLOCK": 1024}, cap, {}
        yield "scans", scans, {"x": "*fp32", "o": "*fp32", "i": "*i32", "n": "i32"}, {"BLOCK": 256}, cap, {}
        yield "atomics", atomics, {"x": "*i32", "f": "*fp32", "n": "i32"}, {"BLOCK": 256}, cap, {}
        yield "random", random, {"o": "*fp32", "seed": "i32"}, {"BLOCK": 512}, cap, {}
        yield "prints", prints, {"x": "*i32", "n": "i32"}, {"BLOCK": 128}, cap, {"debug": True}
        for kind, more in (("fp16", {}), ("fp32", {}), ("bf16", {}), ("fp8e4nv", {}), ("fp8e5", {}), ("fp16", {"num_warps": 8, "num_stages": 4})):
            if (kind == "bf16" and cap < 80) or (kind.startswith("fp8e4") and cap < 89) or (kind == "fp8e5" and cap < 89):
                continue
            out = "*fp32" if kind == "fp32" else "*fp16"
            blocks = {"BM": 128, "BN": 128, "BK": 32} if kind == "fp32" or cap < 80 else {"BM": 128, "BN": 128, "BK": 64}
            if cap == 120:
                blocks = {"BM": 64, "BN": 128, "BK": 32}
            yield f"product_{kind}" + "".join(f"_{k[4]}{v}" for k, v in more.items()), product, {"a": "*" + kind, "b": "*" + kind, "c": out, **SIZES}, blocks, cap, more
        if cap >= 80:
            yield "attention", attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "n": "i32", "scale": "fp32"}, {"BM": 128, "BN": 64, "D": 64}, cap, {}
        if cap >= 90:
            yield "tensors", tensors, {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}, {"BM": 128, "BN": 64, "BK": 64}, cap, {"num_stages": 3}


def main():
    folder = pathlib.Path(sys.argv[1])
    have = set(sys.stdin.read().split())
    failed = 0
    for name, function, signature, constants, cap, options in units():
        suffix = "a" if cap >= 90 else ""
        target = folder / f"triton_{name}.sm_{cap}{suffix}.plain.ptx"
        if target.name in have:
            continue
        attrs = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(signature.values()) if t.startswith("*") or t == "i32"}
        source = ASTSource(fn=function, signature={**signature, **{k: "constexpr" for k in constants}}, constexprs=constants, attrs=attrs)
        try:
            made = triton.compile(source, target=GPUTarget("cuda", cap, 32), options=options)
        except Exception as e:  # one kernel that Triton cannot compile must not cost the others
            failed += 1
            print(f"{target.name}: {str(e).strip().splitlines()[-1] if str(e).strip() else type(e).__name__}")
            continue
        target.write_text(made.asm["ptx"])
        print(target.name, flush=True)
    sys.exit(1 if failed else 0)


main()
