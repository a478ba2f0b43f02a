# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products and attention in Triton."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(rm[:, None] < M) & (k + rk < K)[None, :], other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=(k + rk < K)[:, None] & (rn[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    out = c + rm[:, None] * N + rn[None, :]
    tl.store(out, acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def matmul_transposed(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """B is stored by columns."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + rn[:, None] * K + (k + rk)[None, :])
        acc = tl.dot(x, y.T, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def matmul_int8(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + rn[:, None] * K + (k + rk)[None, :])
        acc = tl.dot(x, y.T, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def split_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Blocks along z share the sum; they meet in atomics."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.program_id(2) * BK, K, BK * tl.num_programs(2)):
        rk = k + tl.arange(0, BK)
        acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc)
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, sem="relaxed")


@triton.jit
def device_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The kernel writes its own tensor maps."""
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
def host_descriptors(da, db, dc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
    dc.store([m, n], acc.to(tl.float16))


@triton.jit
def persistent(da, db, dc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    """Few blocks walk over all tiles; with WS, warps are specialized."""
    across = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=not WS, warp_specialize=WS):
        m = t // across * BM
        n = t % across * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
        dc.store([m, n], acc.to(tl.float16))


@triton.jit
def inner_specialized(da, db, dc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
    dc.store([m, n], acc.to(tl.float16))


@triton.jit
def scaled(a, sa, b, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, FORMAT: tl.constexpr, K8: tl.constexpr, BK: tl.constexpr):
    """A product of block-scaled elements, one tile."""
    rm, rn = tl.arange(0, BM), tl.arange(0, BN)
    rk, rs = tl.arange(0, K8), tl.arange(0, BK // 32)
    x = tl.load(a + rm[:, None] * K8 + rk[None, :])
    y = tl.load(b + rn[:, None] * K8 + rk[None, :])
    xs = tl.load(sa + rm[:, None] * (BK // 32) + rs[None, :])
    ys = tl.load(sb + rn[:, None] * (BK // 32) + rs[None, :])
    acc = tl.dot_scaled(x, xs, FORMAT, y.T, ys, FORMAT)
    tl.store(c + rm[:, None] * BN + rn[None, :], acc)


@triton.jit
def dequantized(a, b, scale, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """B is made of signed 8-bit integers with a scale for each column."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :]).to(tl.float16)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc * tl.load(scale + rn)[None, :])


@triton.jit
def attention(q, k, v, o, lse, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    head = tl.program_id(1) * n * D
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    x = tl.load(q + head + rm[:, None] * D + rd[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = tl.minimum(n, (tl.program_id(0) + 1) * BM) if CAUSAL else n
    for j in range(0, end, BN):
        rn = j + tl.arange(0, BN)
        s = tl.dot(x, tl.load(k + head + rn[None, :] * D + rd[:, None])) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(rm[:, None] >= rn[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        f = tl.exp2(top - new)
        total = total * f + tl.sum(p, 1)
        acc = acc * f[:, None]
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + head + rn[:, None] * D + rd[None, :]), acc)
        top = new
    tl.store(o + head + rm[:, None] * D + rd[None, :], acc / total[:, None])
    tl.store(lse + tl.program_id(1) * n + rm, (top + tl.log2(total)) / 1.44269504)


@triton.jit
def attention_descriptors(dq, dk, dv, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WS: tl.constexpr):
    first = tl.program_id(0) * BM
    x = dq.load([first, 0])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for j in tl.range(0, n, BN, warp_specialize=WS):
        s = tl.dot(x, dk.load([j, 0]).T) * (scale * 1.44269504)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        f = tl.exp2(top - new)
        total = total * f + tl.sum(p, 1)
        acc = acc * f[:, None]
        acc = tl.dot(p.to(tl.float16), dv.load([j, 0]), acc)
        top = new
    rm = first + tl.arange(0, BM)
    tl.store(o + rm[:, None] * D + tl.arange(0, D)[None, :], acc / total[:, None])
