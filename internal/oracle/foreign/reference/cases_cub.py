# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""References of cub_block.cu and cub_warp.cu."""

import numpy as np

from cases import In, InOut, Num, Out, Zero, case, ints, reals

F = "cub_block.cu"
BOTH = "sm_80 sm_90"


def rows(x, n):
    return x.reshape(-1, n)


def blocks_scan(_, x):
    return np.cumsum(rows(x, 512), axis=1, dtype=np.int32)


for kernel in "scan_raking", "scan_memoize", "scan_warps":
    case(kernel, F, 2, 128, [Out("s32", 1024), In("s32", 1024)], blocks_scan, BOTH)


def carry(_, x, n):
    return 1000 + np.concatenate([[0], np.cumsum(x.astype(np.int64))[:-1]])


case("scan_carry", F, 1, 64, [Out("s64", 301), In("s32", 301), Num("s32", 301)], carry, BOTH)


def scan_max(_, x):
    out = []
    for r in rows(x, 96):
        top = np.maximum.accumulate(np.concatenate([[-100.0], r]))
        out += [*top[:-1], max(r)]
    return np.float32(out)


case("scan_max", F, 3, 96, [Out("f32", 291), In("f32", 288, reals(-50, 50))], scan_max, BOTH)


def reduce(_, x, n):
    out = []
    for b in range(3):
        v = [sum(x[i] * x[i] for i in range(b * 160 + t, n, 480)) for t in range(160)]
        out += [np.sum(v), np.max(v[: 100 + b])]
    return out


for kernel in "reduce_raking", "reduce_warps":
    case(kernel, F, 3, 160,
         [Out("f64", 6, rel=1e-13, why="sums of 334 squares in f64 in another order"),
          In("f64", 1001), Num("s32", 1001)], reduce, BOTH)

case("arg_min", F, 4, 128, [Out("s32", 4), In("f32", 512, ints(-40, 40))],
     lambda _, x: np.argmin(rows(x, 128), axis=1) + np.arange(4) * 128, BOTH)
case("radix_keys", F, 2, 128, [Out("u32", 1024), In("u32", 1024)],
     lambda _, x: np.sort(rows(x, 512), axis=1), BOTH)


def radix_pairs(_, __, x):
    order = np.argsort(-x, kind="stable")
    return x[order], order


case("radix_pairs", F, 1, 64, [Out("f32", 192), Out("s32", 192), In("f32", 192, ints(-30, 30))],
     radix_pairs, BOTH)
case("radix_part", F, 1, 64, [Out("u64", 128), In("u64", 128)],
     lambda _, x: x[np.argsort(x >> np.uint64(9) & np.uint64(2**18 - 1), kind="stable")], BOTH)
case("merge_sort", F, 1, 128, [Out("s32", 311), In("s32", 311), Num("s32", 311)],
     lambda _, x, n: np.sort(x)[::-1], BOTH)

for kernel in "histogram_atomic", "histogram_sort":
    case(kernel, F, 2, 128, [Out("u32", 512), In("u8", 1024)],
         lambda _, x: [np.bincount(r, minlength=256) for r in rows(x, 512)], BOTH)


def heads_tails(_, x):
    change = x[1:] != x[:-1]
    return np.concatenate([[True], change]) + 2 * np.concatenate([change, [True]])


case("heads_tails", F, 1, 128, [Out("s32", 256), In("s32", 256, ints(0, 3))], heads_tails, BOTH)
case("difference", F, 1, 64, [Out("s32", 256), In("s32", 256, ints(-1000, 1000))],
     lambda _, x: np.concatenate([x[:1], x[1:] - 3 * x[:-1]]), BOTH)


case("exchange", F, 1, 96, [Out("s16", 480), In("s16", 480)],
     lambda _, x: x.reshape(3, 5, 32).transpose(0, 2, 1), BOTH)
case("load_store", F, 1, 64, [Out("f64", 299), In("f64", 299), Num("s32", 299)],
     lambda _, x, n: x * 2 + np.arange(299) % 5, BOTH)


def run_decode(_, values, lengths):
    return np.repeat(values, lengths)


LENGTHS = 1 + np.arange(64, dtype=np.uint32) * 7 % 13
case("run_decode", F, 1, 32, [Out("s32", int(LENGTHS.sum())), In("s32", 64), In("u32", 64, LENGTHS)],
     run_decode, BOTH)

F = "cub_warp.cu"
BOTH = "sm_80 sm_100"


def warp_scan(_, x):
    out = []
    for r in rows(x.astype(np.int64), 32):
        s, least = np.cumsum(r), np.minimum.accumulate(r)
        out.append((s + 7) * 3 + (s - r + 7) * 5 + least * 7 + least[-1])
    return np.concatenate(out)


case("warp_scan", F, 1, 128, [Out("s32", 128), In("s32", 128, ints(-1000, 1000))], warp_scan, BOTH)


def warp_scan_narrow(_, x):
    out = rows(x, 32).copy()
    out[:, :12] = np.cumsum(out[:, :12], axis=1, dtype=np.uint32)
    return out


case("warp_scan_narrow", F, 1, 128, [Out("u32", 128), In("u32", 128)], warp_scan_narrow, BOTH)


def warp_reduce(_, x, flags):
    out, tops = np.zeros(128, np.int32), []
    for w in range(0, 128, 32):
        heads = [0] + [i for i in range(1, 32) if flags[w + i]] + [32]
        for a, b in zip(heads, heads[1:]):
            out[w + a] = x[w + a : w + b].sum()
        tops.append(x[w : w + 29].max())
    return np.concatenate([out, tops])


case("warp_reduce", F, 1, 128,
     [Out("s32", 132), In("s32", 128, ints(-9999, 9999)), In("s32", 128, ints(0, 2))], warp_reduce, BOTH)


def warp_merge_sort(_, __, x):
    order = np.concatenate([np.argsort(r, kind="stable") + 128 * i for i, r in enumerate(rows(x, 128))])
    return x[order], order


case("warp_merge_sort", F, 1, 64, [Out("s32", 256), Out("s32", 256), In("s32", 256, ints(0, 50))],
     warp_merge_sort, BOTH)
case("warp_exchange", F, 1, 64, [Out("f32", 256), In("f32", 256)],
     lambda _, x: x.reshape(4, 4, 16).transpose(0, 2, 1), BOTH)
case("look_back", F, 9, 128, [Out("u32", 1152), In("u32", 1152), Zero("u64", 9), Zero("u32", 1)],
     lambda _, x, s, t: np.cumsum(x, dtype=np.uint32), BOTH)


def select_one(o, count, x, n):
    kept = x[x % 3 == 0]
    o[: kept.size] = kept
    return o, kept.size


case("select_if", F, 1, 96, [InOut("s32", 96, ints(0, 1)), InOut("u32", 1, ints(0, 1)), In("s32", 90, ints(-99, 99)), Num("s32", 90)],
     select_one, BOTH)


RUNS = np.repeat(np.arange(77, dtype=np.int32) * 31 % 64, 1 + np.arange(77) * 5 % 9)


def run_encode(_, __, ___, x, n):
    heads = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    return x[heads], np.diff(np.append(heads, n)), heads.size


case("run_encode", F, 1, 128,
     [Out("s32", 77), Out("s32", 77), Out("s32", 1), In("s32", RUNS.size, RUNS), Num("s32", RUNS.size)],
     run_encode, BOTH)
for shift in 0, 13, 28:
    case("radix_pass", F, 1, 256, [Out("u32", 256), In("u32", 256), Num("s32", shift)],
         lambda _, x, s: x[np.argsort(x >> np.uint32(s) & np.uint32(15), kind="stable")], BOTH,
         name=f"radix_pass_{shift}")
case("thread_algorithms", F, 1, 32, [Out("s32", 64), In("s32", 256, ints(-9999, 9999))],
     lambda _, x: np.stack([rows(x, 8).sum(1), rows(x, 8).max(1)], 1), BOTH)
