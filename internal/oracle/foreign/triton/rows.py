# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of rows and elements in Triton."""

import triton
import triton.language as tl


@triton.jit
def softmax(o, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row + i, mask=i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + row + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def softmax_backward(dx, y, dy, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    p = tl.load(y + row + i, mask=i < n, other=0.0)
    g = tl.load(dy + row + i, mask=i < n, other=0.0)
    tl.store(dx + row + i, p * (g - tl.sum(p * g, 0)), mask=i < n)


@triton.jit
def layernorm(o, mean, rstd, x, w, b, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row * n + i, mask=m, other=0.0).to(tl.float32)
    middle = tl.sum(v, 0) / n
    d = tl.where(m, v - middle, 0.0)
    s = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(mean + row, middle)
    tl.store(rstd + row, s)
    tl.store(o + row * n + i, d * s * tl.load(w + i, mask=m) + tl.load(b + i, mask=m), mask=m)


@triton.jit
def layernorm_backward(dx, dw, db, dy, x, w, mean, rstd, lock, n, BLOCK: tl.constexpr):
    """The gradients of weights are summed under a lock."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    g = tl.load(dy + row * n + i, mask=m, other=0.0)
    s = tl.load(rstd + row)
    h = tl.where(m, (tl.load(x + row * n + i, mask=m, other=0.0) - tl.load(mean + row)) * s, 0.0)
    wg = tl.where(m, tl.load(w + i, mask=m, other=0.0) * g, 0.0)
    tl.store(dx + row * n + i, (wg - (h * tl.sum(h * wg, 0) / n + tl.sum(wg, 0) / n)) * s, mask=m)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(dw + i, tl.load(dw + i, mask=m) + g * h, mask=m)
    tl.store(db + i, tl.load(db + i, mask=m) + g, mask=m)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def rmsnorm(o, x, w, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    total = tl.zeros([BLOCK], tl.float32)
    for j in range(0, n, BLOCK):
        i = j + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, mask=i < n, other=0.0).to(tl.float32)
        total += v * v
    s = tl.rsqrt(tl.sum(total, 0) / n + eps)
    for j in range(0, n, BLOCK):
        i = j + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, mask=i < n).to(tl.float32) * s * tl.load(w + i, mask=i < n)
        tl.store(o + row + i, v, mask=i < n)


@triton.jit
def rmsnorm_backward(dx, dw, dy, x, w, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row + i, mask=m, other=0.0)
    g = tl.load(dy + row + i, mask=m, other=0.0)
    s = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    wg = g * tl.load(w + i, mask=m, other=0.0)
    tl.store(dx + row + i, s * wg - v * s * s * s * tl.sum(wg * v, 0) / n, mask=m)
    tl.atomic_add(dw + i, g * v * s, mask=m, sem="relaxed")


@triton.jit
def dropout(o, x, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, tl.where(keep, v / (1 - p), 0.0), mask=i < n)


@triton.jit
def random_bits(o, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(o + i * 4, a)
    tl.store(o + i * 4 + 1, b)
    tl.store(o + i * 4 + 2, c)
    tl.store(o + i * 4 + 3, d)


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def line(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scans(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(o + i, tl.cumsum(v, 0))
    tl.store(o + BLOCK + i, tl.associative_scan(v | 1, 0, times, reverse=True))
    square = tl.reshape(v, [BLOCK // 16, 16])
    tl.store(o + 2 * BLOCK + i, tl.reshape(tl.cumsum(square, 0), [BLOCK]))
    tl.store(o + 3 * BLOCK + i, tl.reshape(tl.cumsum(square, 1, reverse=True), [BLOCK]))


@triton.jit
def recurrence(a, b, o, T, BLOCK: tl.constexpr):
    """h = a*h + b by a scan of pairs."""
    i = tl.arange(0, BLOCK)
    x, y = tl.associative_scan((tl.load(a + i, mask=i < T, other=1), tl.load(b + i, mask=i < T, other=0)), 0, line)
    tl.store(o + i, y, mask=i < T)


@triton.jit
def sorts(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.sort(tl.load(x + i), descending=True))


@triton.jit
def histograms(x, o, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n)
    tl.atomic_add(o + tl.arange(0, BINS), h)


@triton.jit
def extremes(x, o, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    high = tl.where(i < n, v, -float("inf"))
    low = tl.where(i < n, v, float("inf"))
    tl.store(o + row * 4, tl.argmax(high, 0))
    tl.store(o + row * 4 + 1, tl.argmin(low, 0))
    tl.store(o + row * 4 + 2, tl.max(high, 0).to(tl.int32))
    tl.store(o + row * 4 + 3, tl.sum((v > 0).to(tl.int32), 0))


@triton.jit
def transpose(x, o, M, N, BLOCK: tl.constexpr):
    rm = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rn = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = (rm[:, None] < M) & (rn[None, :] < N)
    v = tl.load(x + rm[:, None] * N + rn[None, :], mask=m)
    tl.store(o + rn[:, None] * M + rm[None, :], tl.trans(v), mask=tl.trans(m))


@triton.jit
def gathers(x, index, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@triton.jit
def interleave(x, y, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    both = tl.interleave(tl.load(x + i), tl.load(y + i))
    a, b = tl.split(tl.reshape(both * 3, [BLOCK, 2]))
    tl.store(o + tl.arange(0, 2 * BLOCK), both)
    tl.store(o + 2 * BLOCK + i, tl.flip(a - b))


@triton.jit
def gelu(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(o + i, 0.5 * v * (1 + tl.erf(v * 0.70710678)), mask=i < n)


@triton.jit
def swiglu(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(o + i, v * tl.sigmoid(v) * tl.load(y + i, mask=i < n).to(tl.float32), mask=i < n)


@triton.jit
def rotary(x, cosine, sine, o, n, HALF: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, HALF)
    a = tl.load(x + row * 2 * HALF + i)
    b = tl.load(x + row * 2 * HALF + HALF + i)
    c = tl.load(cosine + row * HALF + i)
    s = tl.load(sine + row * HALF + i)
    tl.store(o + row * 2 * HALF + i, a * c - b * s)
    tl.store(o + row * 2 * HALF + HALF + i, b * c + a * s)


@triton.jit
def cross_entropy(loss, x, labels, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    top = tl.max(v, 0)
    at = tl.load(labels + row)
    tl.store(loss + row, tl.log(tl.sum(tl.exp(v - top), 0)) + top - tl.load(x + row * n + at))


@triton.jit
def to_float8(x, o, scales, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * BLOCK + i)
    scale = tl.max(tl.abs(v), 0) / 448.0
    tl.store(o + row * BLOCK + i, (v / scale).to(tl.float8e4nv))
    tl.store(scales + row, scale)


@triton.jit
def functions(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(o + i, tl.sin(v))
    tl.store(o + BLOCK + i, tl.cos(v))
    tl.store(o + 2 * BLOCK + i, tl.log(tl.abs(v)))
    tl.store(o + 3 * BLOCK + i, tl.exp2(v))
    tl.store(o + 4 * BLOCK + i, tl.floor(v) + tl.ceil(v))
    tl.store(o + 5 * BLOCK + i, tl.sqrt_rn(tl.abs(v)))
    tl.store(o + 6 * BLOCK + i, tl.div_rn(v, 3.0))
    tl.store(o + 7 * BLOCK + i, tl.fma(v, v, 1.0))


@triton.jit
def integers(x, y, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a // b)
    tl.store(o + BLOCK + i, a % b)
    tl.store(o + 2 * BLOCK + i, tl.umulhi(a, b))
    tl.store(o + 3 * BLOCK + i, (a >> (b & 7)) ^ (a << 3) | (a & b))
    r = tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $1, 5;", "=r,r", [a], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(o + 4 * BLOCK + i, r)


@triton.jit
def atomics(x, counts, top, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.atomic_add(counts + v % 16, 1, mask=i < n)
    tl.atomic_max(top + i * 0, v, mask=i < n)
    tl.atomic_min(top + 1 + i * 0, v, mask=i < n)
    tl.atomic_xor(top + 2 + i * 0, v, mask=i < n)
    tl.atomic_or(top + 3 + i * 0, v, mask=i < n, sem="acquire", scope="cta")
