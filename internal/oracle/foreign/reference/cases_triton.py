# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""References of products.py and rows.py."""

import math

import numpy as np

from cases import Hidden, In, InOut, Map, Num, Out, Rule, Zero, bits, ints, reals, triton, unit

F = "products.py"
ALL = "sm_80 sm_90a sm_100a"
NEW = "sm_90a sm_100a"
ORDER = "FP32 sums of {} products of magnitude up to 4, in another order, truncated by tensor cores"


def wide(x):
    return np.asarray(x).astype(np.float64)


def product(a, b, m, n, k, transposed=False):
    b = wide(b).reshape(n, k).T if transposed else wide(b).reshape(k, n)
    return wide(a).reshape(m, k) @ b


def tf32(x):
    """Keeps ten bits of the mantissa."""
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def numbers(*values):
    return [Num("s32", v) for v in values]


M, N, K = 128, 64, 96
for dtype in "f16", "bf16", "f32", "e4m3", "e5m2":
    m, n, k = (M, N, 128) if dtype[0] == "e" else (M, N, K)
    note = ORDER.format(k)
    tolerance = {"abs": 2e-4, "why": note}
    if dtype[0] == "e":
        tolerance = {"abs": 0.05, "why": "FP8 tensor cores of sm_90 keep 13 bits of the fraction of a sum"}

    def ref(a, b, c, m, n, k):
        if a.dtype == np.float32:  # tensor cores read FP32 as TF32
            a, b = tf32(a), tf32(b)
        return product(a, b, m, n, k)
    targets = ALL if dtype[0] != "e" else "sm_89 sm_90a sm_100a"
    triton("matmul", F, [m // 64, 1, 1] if dtype != "e4m3" else [1, 1, 1],
           [In(dtype, m * k), In(dtype, k * n), Out("f32", m * n, **tolerance), *numbers(m, n, k)], ref,
           targets, {"BM": 64 if dtype != "e4m3" else 128, "BN": 64, "BK": 32 if dtype[0] != "e" else 64},
           name="matmul_" + dtype)

# Sizes that are no multiples of the tile; eight warps and a deep pipeline.
triton("matmul", F, [2, 2], [In("f16", 100 * 72), In("f16", 72 * 88), Out("f16", 100 * 88, abs=2e-4, rel=2**-11, why=ORDER.format(72) + "; stored as FP16"),
       *numbers(100, 88, 72)], lambda a, b, c, m, n, k: product(a, b, m, n, k), ALL,
       {"BM": 64, "BN": 64, "BK": 32}, name="matmul_odd")
triton("matmul", F, [1, 1], [In("bf16", 128 * 256), In("bf16", 256 * 128), Out("f32", 128 * 128, abs=5e-4, why=ORDER.format(256)),
       *numbers(128, 128, 256)], lambda a, b, c, m, n, k: product(a, b, m, n, k), ALL,
       {"BM": 128, "BN": 128, "BK": 64}, name="matmul_deep", num_warps=8, num_stages=4)
triton("matmul_transposed", F, [2, 1], [In("f16", M * K), In("f16", N * K), Out("f32", M * N, abs=2e-4, why=ORDER.format(K)), *numbers(M, N, K)],
       lambda a, b, c, m, n, k: product(a, b, m, n, k, True), ALL, {"BM": 64, "BN": 64, "BK": 32})
triton("matmul_int8", F, [2, 1], [In("s8", M * 128), In("s8", N * 128), Out("s32", M * N), *numbers(M, N, 128)],
       lambda a, b, c, m, n, k: product(a, b, m, n, k, True), ALL, {"BM": 64, "BN": 64, "BK": 64})
triton("split_k", F, [1, 1, 3], [In("f16", 64 * 192), In("f16", 192 * 64), InOut("f32", 64 * 64, ints(0, 1), abs=4e-4, why=ORDER.format(192)),
       *numbers(64, 64, 192)], lambda a, b, c, m, n, k: product(a, b, m, n, k), ALL, {"BM": 64, "BN": 64, "BK": 32})
triton("device_descriptors", F, [1, 2], [In("f16", 128 * 128), In("f16", 128 * 128), Out("f16", 128 * 128, abs=4e-4, rel=2**-11, why=ORDER.format(128) + "; stored as FP16"),
       *numbers(128, 128, 128)], lambda a, b, c, m, n, k: product(a, b, m, n, k), NEW, {"BM": 128, "BN": 64, "BK": 64})


def descriptors(m, n, k, bm, bn, bk, dtype="f16"):
    return [Hidden(In(dtype, m * k)), Hidden(In(dtype, n * k)),
            Hidden(Out("f16", m * n, abs=4e-4, rel=2**-11, why=ORDER.format(k) + "; stored as FP16")),
            Map(0, dtype, [m, k], [bm, bk]), Map(1, dtype, [n, k], [bn, bk]), Map(2, "f16", [m, n], [bm, bn])]


def from_maps(m, n, k):
    return lambda a, b, c, *_: product(a, b, m, n, k, True)


tile = {"BM": 128, "BN": 64, "BK": 64}
triton("host_descriptors", F, [2, 2], [*descriptors(256, 128, 192, 128, 64, 64), *numbers(192)], from_maps(256, 128, 192), NEW, tile)
triton("host_descriptors", F, [1, 1], [*descriptors(128, 64, 256, 128, 64, 128, "e4m3")[:2], Hidden(Out("f16", 128 * 64, abs=0.06, rel=2**-11, why="FP8 tensor cores of sm_90 keep 13 bits of the fraction of a sum; stored as FP16")),
       *descriptors(128, 64, 256, 128, 64, 128, "e4m3")[3:], *numbers(256)], from_maps(128, 64, 256), NEW,
       {"BM": 128, "BN": 64, "BK": 128}, name="host_descriptors_e4m3")
triton("persistent", F, [2], [*descriptors(256, 192, 128, 128, 64, 64), *numbers(256, 192, 128)], from_maps(256, 192, 128), NEW,
       {**tile, "WS": False})
triton("persistent", F, [2], [*descriptors(256, 192, 128, 128, 64, 64), *numbers(256, 192, 128)], from_maps(256, 192, 128), "sm_100a",
       {**tile, "WS": True}, name="persistent_specialized")
triton("inner_specialized", F, [2, 1], [*descriptors(256, 64, 256, 128, 64, 64), *numbers(256)], from_maps(256, 64, 256), "sm_100a", tile)


def scale_of(bytes):
    return 2.0 ** (bytes.astype(int) - 127)


def scaled_e4m3(a, sa, b, sb, c, *_):
    x = wide(a).reshape(128, 4, 32) * scale_of(sa).reshape(128, 4, 1)
    y = wide(b).reshape(64, 4, 32) * scale_of(sb).reshape(64, 4, 1)
    return x.reshape(128, 128) @ y.reshape(64, 128).T


def four(x, rows):
    """Decodes pairs of E2M1, the low half first."""
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    return np.stack([values[x & 15], values[x >> 4]], 1).reshape(rows, -1)


def scaled_e2m1(a, sa, b, sb, c, *_):
    x = four(a, 128).reshape(128, 4, 32) * scale_of(sa).reshape(128, 4, 1)
    y = four(b, 64).reshape(64, 4, 32) * scale_of(sb).reshape(64, 4, 1)
    return x.reshape(128, 128) @ y.reshape(64, 128).T


triton("scaled", F, [1], [In("e4m3", 128 * 128), In("u8", 512, ints(124, 130)), In("e4m3", 64 * 128), In("u8", 256, ints(124, 130)),
       Out("f32", 128 * 64, abs=0.01, why=ORDER.format(128) + "; scales up to 16"), *numbers(128, 64, 128)], scaled_e4m3, "sm_100a",
       {"BM": 128, "BN": 64, "FORMAT": "e4m3", "K8": 128, "BK": 128}, name="scaled_e4m3")
triton("scaled", F, [1], [In("u8", 128 * 64), In("u8", 512, ints(124, 130)), In("u8", 64 * 64), In("u8", 256, ints(124, 130)),
       Out("f32", 128 * 64, abs=0.01, why=ORDER.format(128) + "; scales up to 16"), *numbers(128, 64, 128)], scaled_e2m1, "sm_100a",
       {"BM": 128, "BN": 64, "FORMAT": "e2m1", "K8": 64, "BK": 128}, name="scaled_e2m1")
triton("dequantized", F, [2, 1], [In("f16", M * K), In("s8", K * N), In("f32", N), Out("f32", M * N, abs=0.02, why="FP32 sums of 96 products of up to 256, truncated by tensor cores"),
       *numbers(M, N, K)], lambda a, b, s, c, m, n, k: product(a, b, m, n, k) * s, ALL, {"BM": 64, "BN": 64, "BK": 32})


def attend(q, k, v, n, scale, causal):
    d = q.size // n
    s = wide(q).reshape(n, d) @ wide(k).reshape(n, d).T * float(scale)
    if causal:
        s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    top = s.max(1, keepdims=True)
    e = np.exp(s - top)
    total = e.sum(1, keepdims=True)
    return e / total @ wide(v).reshape(n, d), (top + np.log(total))[:, 0]


def attention(causal):
    def ref(q, k, v, o, lse, n, scale):
        parts = [attend(*[x.reshape(2, -1)[h] for x in (q, k, v)], int(n), scale, causal) for h in range(2)]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    return ref


for causal in False, True:
    for dtype in ("f16", "bf16") if causal else ("f16",):
        half = 2**-11 if dtype == "f16" else 2**-8
        triton("attention", F, [2, 2], [*[In(dtype, 2 * 128 * 64)] * 3, Out("f32", 2 * 128 * 64, abs=4 * half, why="weights are rounded to the type of V, whose elements are below 2"),
               Out("f32", 256, abs=2e-5, why="ex2.approx and FP32 sums"), *numbers(128), Num("f32", 0.125)], attention(causal), ALL,
               {"BM": 64, "BN": 32 if causal else 64, "D": 64, "CAUSAL": causal}, name=f"attention_{dtype}" + "_causal" * causal)


for special in False, True:
    triton("attention_descriptors", F, [1], [*[Hidden(In("f16", 128 * 64))] * 3, *[Map(i, "f16", [128, 64], [128 if i == 0 else 64, 64]) for i in range(3)],
           Out("f32", 128 * 64, abs=2**-9, why="weights are rounded to FP16; elements of V are below 2"), *numbers(128), Num("f32", 0.125)],
           lambda q, k, v, o, n, scale: attend(q, k, v, 128, scale, False)[0], "sm_100a" if special else NEW,
           {"BM": 128, "BN": 64, "D": 64, "WS": special}, name="attention_descriptors" + "_specialized" * special)

F = "rows.py"
FAST = "ex2.approx and FP32 sums in another order"


def softmax(o, x, n):
    v = wide(x).reshape(-1, n)
    e = np.exp(v - v.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


triton("softmax", F, [5], [Out("f32", 5 * 300, rel=2e-6, why=FAST), In("f32", 5 * 300, reals(-8, 8)), Num("s32", 300)], softmax, ALL, {"BLOCK": 512})
triton("softmax", F, [3], [Out("bf16", 3 * 256, rel=2**-8, why="stored as BF16"), In("bf16", 3 * 256), Num("s32", 256)], softmax, ALL, {"BLOCK": 256}, name="softmax_bf16", num_warps=8)


def softmax_backward(dx, y, dy, n):
    y, dy = wide(y).reshape(-1, n), wide(dy).reshape(-1, n)
    return y * (dy - (y * dy).sum(1, keepdims=True))


triton("softmax_backward", F, [4], [Out("f32", 800, abs=4e-5, rel=1e-6, why="FP32 sums of 200 products"), In("f32", 800, reals(0, 1)), In("f32", 800), Num("s32", 200)],
       softmax_backward, ALL, {"BLOCK": 256})


def layernorm(o, mean, rstd, x, w, b, n, eps):
    v = wide(x).reshape(-1, n)
    m = v.mean(1, keepdims=True)
    s = 1 / np.sqrt(((v - m) ** 2).mean(1, keepdims=True) + float(eps))
    return (v - m) * s * wide(w) + wide(b), m, s


triton("layernorm", F, [4], [Out("f16", 4 * 200, abs=1e-6, rel=2**-11 + 1e-6, why="stored as FP16"), Out("f32", 4, abs=1e-6, why="FP32 sums"), Out("f32", 4, rel=2e-6, why="FP32 sums, sqrt.approx"),
       In("f16", 800), In("f32", 200), In("f32", 200), Num("s32", 200), Num("f32", 1e-5)], layernorm, ALL, {"BLOCK": 256})


def layernorm_backward(dx, dw, db, dy, x, w, mean, rstd, lock, n):
    dy, x = wide(dy).reshape(-1, n), wide(x).reshape(-1, n)
    s = wide(rstd)[:, None]
    h = (x - wide(mean)[:, None]) * s
    g = dy * wide(w)
    return (g - h * (h * g).mean(1, keepdims=True) - g.mean(1, keepdims=True)) * s, (dy * h).sum(0), dy.sum(0)


triton("layernorm_backward", F, [6], [Out("f32", 6 * 150, abs=2e-5, why="FP32 sums of 150 products"), InOut("f32", 150, ints(0, 1), abs=2e-5, why="FP32 sums in any order"), InOut("f32", 150, ints(0, 1), abs=1e-5, why="FP32 sums in any order"),
       In("f32", 900), In("f32", 900), In("f32", 150), In("f32", 6, reals(-0.1, 0.1)), In("f32", 6, reals(0.8, 1.2)), Zero("s32", 1), Num("s32", 150)],
       layernorm_backward, ALL, {"BLOCK": 256})


def rmsnorm(o, x, w, n, eps):
    v = wide(x).reshape(-1, n)
    return v / np.sqrt((v * v).mean(1, keepdims=True) + float(eps)) * wide(w)


triton("rmsnorm", F, [3], [Out("bf16", 3 * 700, rel=2**-8, why="stored as BF16"), In("bf16", 2100), In("f32", 700), Num("s32", 700), Num("f32", 1e-6)], rmsnorm, ALL, {"BLOCK": 256})


def rmsnorm_backward(dx, dw, dy, x, w, n, eps):
    dy, x = wide(dy).reshape(-1, n), wide(x).reshape(-1, n)
    s = 1 / np.sqrt((x * x).mean(1, keepdims=True) + float(eps))
    g = dy * wide(w)
    return s * g - x * s**3 * (g * x).mean(1, keepdims=True), (dy * x * s).sum(0)


triton("rmsnorm_backward", F, [5], [Out("f32", 500, abs=1e-5, why="FP32 sums of 100 products"), InOut("f32", 100, ints(0, 1), abs=1e-5, why="FP32 sums in any order"), In("f32", 500), In("f32", 500), In("f32", 100),
       Num("s32", 100), Num("f32", 1e-6)], rmsnorm_backward, ALL, {"BLOCK": 128})


def philox(seed, i):
    """Returns four words for each counter, as Triton counts: (i, 0, 0, 0)."""
    c = [i.astype(np.uint64)] + [np.zeros(i.size, np.uint64) for _ in range(3)]
    key = [int(seed) & 0xFFFFFFFF, int(seed) >> 32 & 0xFFFFFFFF]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [q >> np.uint64(32) ^ c[1] ^ np.uint64(key[0]), q & low, p >> np.uint64(32) ^ c[3] ^ np.uint64(key[1]), p & low]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return np.stack(c, 1).astype(np.uint32)


def dropout(o, x, n, p, seed):
    w = philox(seed, np.arange(n))[:, 0].view(np.int32).astype(np.int64)
    u = np.where(w < 0, -w - 1, w).astype(np.float32) * np.float32(4.6566127342e-10)
    return np.where(u > p, wide(x) / (1 - float(p)), 0)


triton("dropout", F, [2], [Out("f32", 500, rel=1e-6, why="div.full has 2 ulp"), In("f32", 500), Num("s32", 500), Num("f32", 0.3), Num("s32", 1234)], dropout, ALL, {"BLOCK": 256})
triton("random_bits", F, [2], [Out("s32", 1024), Num("s32", 77)], lambda o, seed: philox(seed, np.arange(256)).view(np.int32), ALL, {"BLOCK": 128})


def scans(x, o):
    r = x.astype(np.int64)
    with np.errstate(over="ignore"):
        q = np.cumprod((x | 1)[::-1], dtype=np.int32)[::-1]
    s = r.reshape(16, 16)
    return np.concatenate([np.cumsum(r), q, np.cumsum(s, 0).ravel(), np.cumsum(s[:, ::-1], 1)[:, ::-1].ravel()]).astype(np.int32)


triton("scans", F, [1], [In("s32", 256, ints(-1000, 1000)), Out("s32", 1024)], scans, ALL, {"BLOCK": 256})


def recurrence(a, b, o, t):
    h, out = 0, []
    for x, y in zip(a.tolist(), b.tolist()):
        h = (h * x + y + 2**31) % 2**32 - 2**31
        out.append(h)
    return np.array(out)


triton("recurrence", F, [1], [In("s32", 200, ints(-5, 6)), In("s32", 200, ints(-100, 100)), Out("s32", 200), Num("s32", 200)], recurrence, ALL, {"BLOCK": 256})
triton("sorts", F, [2], [In("f32", 512, reals(-100, 100)), Out("f32", 512)], lambda x, o: -np.sort(-x.reshape(2, 256), 1), ALL, {"BLOCK": 256})
triton("histograms", F, [3], [In("s32", 700, ints(0, 64)), InOut("s32", 64, ints(0, 1)), Num("s32", 700)], lambda x, o, n: np.bincount(x, minlength=64), ALL, {"BLOCK": 256, "BINS": 64})


def extremes(x, o, n):
    r = x.reshape(-1, n)
    return np.stack([r.argmax(1), r.argmin(1), np.trunc(r.max(1)).astype(int), (r > 0).sum(1)], 1)


triton("extremes", F, [4], [In("f32", 4 * 333, ints(-50, 50)), Out("s32", 16), Num("s32", 333)], extremes, ALL, {"BLOCK": 512})
triton("transpose", F, [2, 3], [In("f16", 60 * 90), Out("f16", 60 * 90), *numbers(60, 90)], lambda x, o, m, n: x.reshape(60, 90).T, ALL, {"BLOCK": 32})
triton("gathers", F, [1], [In("f32", 256), In("s32", 256, ints(0, 256)), Out("f32", 256)], lambda x, i, o: x[i], ALL, {"BLOCK": 256})


def interleave(x, y, o):
    return np.concatenate([np.stack([x, y], 1).ravel(), (3 * x - 3 * y)[::-1]])


triton("interleave", F, [1], [In("s32", 128, ints(-999, 999)), In("s32", 128, ints(-999, 999)), Out("s32", 384)], interleave, ALL, {"BLOCK": 128})
triton("gelu", F, [2], [In("f16", 300, reals(-4, 4)), Out("f16", 300, abs=1e-6, rel=2**-11 + 1e-6, why="stored as FP16"), Num("s32", 300)],
       lambda x, o, n: [0.5 * v * (1 + math.erf(v * 0.70710678)) for v in wide(x)], ALL, {"BLOCK": 256})
triton("swiglu", F, [2], [In("bf16", 300), In("bf16", 300), Out("bf16", 300, rel=2**-8, why="stored as BF16"), Num("s32", 300)],
       lambda x, y, o, n: wide(x) / (1 + np.exp(-wide(x))) * wide(y), ALL, {"BLOCK": 256})


def rotary(x, c, s, o, n):
    x, c, s = wide(x).reshape(-1, 2, 64), wide(c).reshape(-1, 64), wide(s).reshape(-1, 64)
    return np.stack([x[:, 0] * c - x[:, 1] * s, x[:, 1] * c + x[:, 0] * s], 1)


triton("rotary", F, [4], [In("f32", 512), In("f32", 256, reals(-1, 1)), In("f32", 256, reals(-1, 1)), Out("f32", 512, abs=5e-7, why="two products in FP32"), Num("s32", 4)], rotary, ALL, {"HALF": 64})


def cross_entropy(loss, x, labels, n):
    v = wide(x).reshape(-1, n)
    return np.log(np.exp(v).sum(1)) - v[np.arange(len(v)), labels]


triton("cross_entropy", F, [6], [Out("f32", 6, abs=3e-6, why=FAST), In("f32", 6 * 250, reals(-5, 5)), In("s32", 6, ints(0, 250)), Num("s32", 250)], cross_entropy, ALL, {"BLOCK": 256})


def to_float8(x, o, scales, n):
    v = x.reshape(-1, 256)
    s = (np.abs(v).max(1) / np.float32(448)).astype(np.float32)
    return (wide(v) / wide(s)[:, None]), s


triton("to_float8", F, [2], [In("f32", 512), Out("e4m3", 512, abs=2**-10, rel=2**-4, why="rounded to E4M3"), Out("f32", 2, rel=2e-7, why="div.full"), Num("s32", 512)], to_float8, "sm_89 sm_90a sm_100a", {"BLOCK": 256})


def functions(x, o, n):
    v = wide(x)
    return np.concatenate([np.sin(v), np.cos(v), np.log(abs(v)), np.exp2(v), np.floor(v) + np.ceil(v), np.sqrt(abs(v)), v / 3, v * v + 1])


triton("functions", F, [1], [In("f32", 256, reals(-9, 9)), Out("f32", 2048, abs=4e-6, rel=1e-6, why="sin, cos and lg2 have absolute errors of up to 2^-18 here"), Num("s32", 256)], functions, ALL, {"BLOCK": 256})


def integers(x, y, o):
    a, b = x.astype(np.int64), y.astype(np.int64)
    q = np.trunc(a / b).astype(np.int64)
    ua, ub = x.view(np.uint32).astype(object), y.view(np.uint32).astype(object)
    high = np.array([p * r >> 32 for p, r in zip(ua, ub)], np.int64)
    turn = x.view(np.uint32) << np.uint32(5) | x.view(np.uint32) >> np.uint32(27)
    mixed = (a >> (b & 7)) ^ (a << 3) | (a & b)
    return np.concatenate([q, a - q * b, high, mixed, turn.astype(np.int64)]).astype(np.uint64).astype(np.uint32).view(np.int32)


triton("integers", F, [1], [In("s32", 128), In("s32", 128, ints(1, 2000)), Out("s32", 640)], integers, ALL, {"BLOCK": 128})


def atomics(x, counts, top, n):
    return (np.bincount(x % 16, minlength=16),
            np.array([x.max(), min(0, x.min()), np.bitwise_xor.reduce(x), np.bitwise_or.reduce(x)]))


triton("atomics", F, [2], [In("s32", 300, ints(0, 10000)), InOut("s32", 16, ints(0, 1)), InOut("s32", 4, ints(0, 1)), Num("s32", 300)], atomics, ALL, {"BLOCK": 256})
