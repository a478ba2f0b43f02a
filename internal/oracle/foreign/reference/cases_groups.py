# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""References of groups.cu and sync.cu."""

import numpy as np

from cases import In, InOut, Num, Out, Zero, case, ints

F = "groups.cu"
BOTH = "sm_80 sm_90"


def tile(x, n):
    out = []
    for k, r in enumerate(x.astype(np.int64).reshape(-1, n)):
        before = np.concatenate([[0], np.bitwise_xor.accumulate(r)[:-1]])
        out.append(r.sum() + 3 * r.max() + 5 * np.cumsum(r) + 7 * before + 11 * k
                   + r[np.arange(n) ^ n // 2])
    return np.concatenate(out)


def tiles(_, x):
    return tile(x, 32) ^ tile(x, 16) ^ tile(x, 8) ^ tile(x, 2)


case("tiles", F, 1, 128, [Out("s32", 128), In("s32", 128, ints(-1000, 1000))], tiles, BOTH)


def votes(_, x):
    out = []
    for r in x.reshape(-1, 8):
        ballot = sum(int(v > 0) << i for i, v in enumerate(r))
        base = ballot | int((r > 90).any()) << 8 | int((r > -90).all()) << 9
        out += [base | sum(int(w & 3 == v & 3) << i for i, w in enumerate(r)) << 10 for v in r]
    return out


def flat(f):
    """Makes an array of a list."""
    return lambda *a: np.array(f(*a))


case("votes", F, 1, 64, [Out("u32", 64), In("s32", 64, ints(-100, 100))], flat(votes), BOTH)


def coalesced(_, count, x):
    out = np.full(256, -1)
    for w in range(0, 256, 32):
        lanes = [i for i in range(w, w + 32) if x[i] % 3 != 0]
        total = x[lanes].sum()
        inner = 0
        for k, i in enumerate(lanes):
            out[i] = total * 3 + x[lanes[: k + 1]].sum() + len(lanes) * 1000 + 1
            if x[i] % 2 == 0:
                out[i] += 100000 * inner
                inner += 1
    return out, count + np.count_nonzero(x % 3)


case("coalesced", F, 2, 128, [Out("s32", 256), InOut("s32", 1, ints(0, 1)), In("s32", 256, ints(0, 100))],
     coalesced, BOTH)


def partitions(_, x):
    out = []
    for r in x.reshape(-1, 32):
        for i, v in enumerate(r):
            same, odd = r & 7 == v & 7, r & 1 == v & 1
            out.append(same.sum() + 64 * same[:i].sum() + 4096 * r[odd].sum() + odd[:i].sum())
    return out


case("partitions", F, 1, 64, [Out("s32", 64), In("s32", 64, ints(0, 100))], flat(partitions), BOTH)


def big_tiles(_, x):
    return np.concatenate([r.sum() * 2 + np.cumsum(r) + r[5] + (r == 77).any() for r in x.reshape(-1, 128)])


case("big_tiles", F, 1, 256, [Out("s32", 256), In("s32", 256, ints(0, 100))], big_tiles, BOTH)
case("staged", F, 1, 256, [Out("f32", 256), In("f32", 256 * 5, ints(-100, 100)), Num("s32", 5)],
     lambda _, x, n: x.reshape(5, 256).sum(0)[::-1], BOTH)


def grid_sync(a, b, n, steps):
    for _ in range(steps):
        b[:] = np.roll(a, 1) + 2 * a + np.roll(a, -1)
        a, b = b, a
    return (b, a) if steps % 2 else (a, b)


case("grid_sync", F, 4, 64, [InOut("s32", 300, ints(-9, 9)), InOut("s32", 300, ints(0, 1)), Num("s32", 300), Num("s32", 5)],
     grid_sync, BOTH, cooperative=True)
case("split_barrier", F, 1, 128, [Out("s32", 128), In("s32", 128, ints(-100, 100))],
     lambda _, x: 3 * x + x[::-1], BOTH)
case("invoke", F, 1, 64, [Out("s32", 64), In("s32", 64, ints(-100, 100))], lambda _, x: x + 41, BOTH)
case("cluster_histogram", F, 4, 96, [Out("u32", 256), In("u32", 1000), Num("s32", 1000)],
     lambda _, x, n: np.bincount(x & 255, minlength=256), "sm_90 sm_100")


def cluster_ring(_, x):
    r = x.reshape(2, 3, 64)
    one = np.roll(r, -1, 1)[:, :, ::-1] * 2 + np.arange(3)[:, None]
    return np.roll(one, -1, 1) + np.roll(np.arange(3), -1)[:, None] * 1000 + 300000


case("cluster_ring", F, 6, 64, [Out("s32", 384), In("s32", 384, ints(-100, 100))], cluster_ring,
     "sm_90 sm_100", cluster=[3, 1, 1])


def cluster_sum(_, x):
    return x.astype(np.int64).reshape(2, 2, 2, 2, 96).sum((1, 3, 4))


case("cluster_sum", F, [4, 4], 96, [Out("s64", 4), In("s32", 1536)], cluster_sum, "sm_90 sm_100")

F = "sync.cu"
BOTH = "sm_80 sm_90"


def windows(_, x, tiles):
    r = x.reshape(tiles, 128)
    return sum(np.roll(r, -k, 1) for k in range(9))


case("pipeline_block", F, 1, 128, [Out("s32", 896), In("s32", 896, ints(-999, 999)), Num("s32", 7)], windows, BOTH)
case("pipeline_roles", F, 1, 128, [Out("s32", 480), In("s32", 480, ints(-999, 999)), Num("s32", 5)],
     lambda _, x, n: x.reshape(5, 96)[:, ::-1] * 3 + np.arange(5)[:, None], BOTH)


def pipeline_thread(_, x, n):
    v = x.reshape(6, 64, 4)
    return (v[..., 0] * v[..., 1] - v[..., 2] * v[..., 3]).sum(0)


case("pipeline_thread", F, 1, 64, [Out("f32", 64), In("f32", 6 * 256, ints(-20, 20)), Num("s32", 6)],
     pipeline_thread, BOTH)
case("barrier_copy", F, 1, 64, [Out("f64", 64), In("f64", 320, ints(-99, 99)), Num("s32", 5)],
     lambda _, x, n: np.roll(x.reshape(5, 64).sum(0), -13), BOTH)
case("barrier_drop", F, 1, 96, [Out("s32", 96), In("s32", 96, ints(-99, 99))],
     lambda _, x: np.where(np.arange(96) % 2, 0, x.sum() + 5), BOTH)
case("barrier_completion", F, 1, 64, [Out("s32", 64), In("s32", 192, ints(-99, 99))],
     lambda _, x: np.full(64, x.sum() + 3000), BOTH)
case("latch_once", F, 1, 64, [Out("s32", 64), In("s32", 64), Zero("u8", 64)],
     lambda _, x, l: x[np.arange(64) ^ 1], BOTH)
case("semaphore_lock", F, 1, 64, [Out("s32", 64), Num("s32", 7)],
     lambda _, n: np.full(64, 7 * (4 + 16 + 32 + 48)), BOTH)
case("message", F, 4, 64, [Out("s32", 256), Zero("s32", 64), Zero("u32", 1)],
     lambda *_: (63 - np.arange(64)) * 17 + np.arange(4)[:, None], BOTH)
