# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
"""References of ints.cu."""

import base64 as base64_module
import hashlib
import zlib

import numpy as np

from cases import In, Num, Out, case, ints, reals

F = "ints.cu"
TWO = "sm_80 sm_120"
M32, M64 = 2**32 - 1, 2**64 - 1


def s32(v):
    v &= M32
    return v - 2**32 if v >> 31 else v


def s64(v):
    v &= M64
    return v - 2**64 if v >> 63 else v


def each(f, mask=M32):
    """Applies f to Python integers element by element; the results are reduced by a mask."""
    def run(_, *arrays):
        out = []
        for values in zip(*[a.tolist() for a in arrays if np.ndim(a)]):
            out += [v & mask for v in f(*values)]
        return np.array(out, np.uint32 if mask == M32 else np.uint64)
    return run


def clz(v, n=32):
    return n - v.bit_length()


def pick(a, b, selector):
    raw = (a | b << 32).to_bytes(8, "little")
    return int.from_bytes(bytes(raw[selector >> 4 * i & 7] for i in range(4)), "little")


def dot4(a, b, c, signed):
    x, y = a.to_bytes(4, "little"), b.to_bytes(4, "little")
    if signed:
        x, y = np.frombuffer(x, np.int8).tolist(), np.frombuffer(y, np.int8).tolist()
    return c + sum(p * q for p, q in zip(x, y))


def bit_tricks(a, b):
    left, right = (b << 32 | a) << (b & 31) >> 32, (b << 32 | a) >> min(a & 63, 32)
    ones = a & b
    wide = a * b
    a24, b24 = (a & 0xFFFFFF), (b & 0xFFFFFF)
    sa, sb = (a24 ^ 0x800000) - 0x800000, (b24 ^ 0x800000) - 0x800000
    half = (a & 0xFFFF) * (b & 255) + (a >> 16) * (b >> 8 & 255) + 1
    return [
        clz(a >> (b & 31)) | a.bit_count() << 8 | ((ones & -ones).bit_length()) << 16,
        int(f"{a:032b}"[::-1], 2) ^ pick(a, b, 0x3715),
        left + right,
        wide >> 32 ^ (s32(a) * s32(b) >> 32) & M32,
        (a + b >> 1) ^ (s32(a) + s32(b) + 1 >> 1) ^ (abs(a - b) + 7),
        sa * sb + a24 * b24,
        (wide & M64).bit_count() + 100 * clz(wide >> 9, 64),
        (dot4(a, b, 5, False) ^ dot4(a, b, -5, True) & M32) ^ half,
    ]


TWO_WORDS = [In("u32", 128), In("u32", 128)]
case("bit_tricks", F, 2, 64, [Out("u32", 1024), *TWO_WORDS], each(bit_tricks), TWO)


def packed_bytes(_, a, b):
    x, y = a.view(np.uint8).astype(int), b.view(np.uint8).astype(int)
    sx, sy = a.view(np.int8).astype(int), b.view(np.int8).astype(int)
    hx, hy = a.view(np.uint16).astype(int), b.view(np.uint16).astype(int)

    def pack(v):
        return v.astype(np.uint8).view(np.uint32)
    return np.stack([
        pack(x + y), pack(np.clip(sx - sy, -128, 127)), pack(np.maximum(x, y)), pack(abs(x - y)),
        pack(np.where(sx > sy, 255, 0)), pack((x + y + 1) // 2),
        np.minimum(hx + hy, 65535).astype(np.uint16).view(np.uint32),
        abs(x - y).reshape(-1, 4).sum(1).astype(np.uint32)], 1)


case("packed_bytes", F, 2, 64, [Out("u32", 1024), *TWO_WORDS], packed_bytes, TWO)


def quotient(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def division(a, b, d):
    b |= 1
    d |= 1
    low, short = s32(a), (a & 0xFFFF ^ 0x8000) - 0x8000
    return [quotient(a, b), a - b * quotient(a, b), (a & M64) // (b & M64), (a & M64) % (d & M32),
            quotient(low, d), (short - 1000 * quotient(short, 1000) & M32) + (a & M32) // 7 & M32]


case("division", F, 2, 64, [Out("u64", 768), In("s64", 128), In("s64", 128, ints(-10**9, 10**9)), In("s32", 128)],
     each(division, M64), TWO)


def wide(a, b):
    m = 2**128 - 1
    w = a * b + (b << 64 | a) & m
    w = (w * 1000003 & m) - (w >> 37) & m
    s = s64(a) * s64(b) >> 5
    return [w & M64, w >> 64, (s ^ s >> 64) & M64, w % 1000003]


case("wide", F, 2, 32, [Out("u64", 256), In("u64", 64), In("u64", 64)], each(wide, M64), TWO)


def wide_division(_, p, q):
    out = []
    for t in range(64):
        a = int(p[2 * t]) | int(p[2 * t + 1]) << 64
        d = int(q[2 * t]) | int(q[2 * t + 1]) >> (t & 63) << 64 | 1
        out += [v & M64 for v in (a // d, a // d >> 64, a % d, a % d >> 64)]
    return np.array(out, np.uint64)


case("wide_division", F, 1, 64, [Out("u64", 256), In("u64", 128), In("u64", 128)], wide_division, TWO)


def big_sum(_, a, b):
    out = []
    for x, y in zip(a.reshape(-1, 8), b.reshape(-1, 8)):
        v = int.from_bytes(x.tobytes(), "little") + int.from_bytes(y.tobytes(), "little")
        out.append(np.frombuffer((v % 2**256).to_bytes(32, "little"), np.uint32))
    return np.concatenate(out)


case("big_sum", F, 1, 64, [Out("u32", 512), In("u32", 512), In("u32", 512)], big_sum, TWO)
case("crc32", F, 2, 64, [Out("u32", 128), In("u8", 128 * 33), Num("s32", 33)],
     lambda _, x, n: np.array([zlib.crc32(r.tobytes()) for r in x.reshape(128, 33)], np.uint32), TWO)
case("sha256", F, 1, 64, [Out("u32", 512), In("u8", 2560)],
     lambda _, x: np.frombuffer(b"".join(hashlib.sha256(r.tobytes()).digest() for r in x.reshape(64, 40)), np.uint32), TWO)


def philox(_, k, first):
    out = []
    for i in range(96):
        c, key = [first + i, 1, 2, 3], [int(k) & M32, int(k) >> 32]
        for _ in range(10):
            p, q = 0xD2511F53 * int(c[0]), 0xCD9E8D57 * int(c[2])
            c = [q >> 32 ^ c[1] ^ key[0], q & M32, p >> 32 ^ c[3] ^ key[1], p & M32]
            key = [key[0] + 0x9E3779B9 & M32, key[1] + 0xBB67AE85 & M32]
        out += [int(v) for v in c]
    return np.array(out, np.uint32)


case("philox", F, 3, 32, [Out("u32", 384), Num("v64", 0x123456789ABCDEF0), Num("u32", 5)], philox, TWO)


def siphash(_, x, k0, k1):
    def turn(v, n):
        return (v << n | v >> (64 - n)) & M64
    out = []
    for m in x.reshape(-1, 2).tolist():
        a, b, c, d = (int(k0) ^ 0x736f6d6570736575, int(k1) ^ 0x646f72616e646f6d,
                      int(k0) ^ 0x6c7967656e657261, int(k1) ^ 0x7465646279746573)

        def mix(a, b, c, d):
            a = a + b & M64
            b = turn(b, 13) ^ a
            a = turn(a, 32)
            c = c + d & M64
            d = turn(d, 16) ^ c
            a = a + d & M64
            d = turn(d, 21) ^ a
            c = c + b & M64
            b = turn(b, 17) ^ c
            return a, b, turn(c, 32), d
        for w in [*m, 16 << 56]:
            d ^= w
            a, b, c, d = mix(*mix(a, b, c, d))
            a ^= w
        c ^= 255
        for _ in range(4):
            a, b, c, d = mix(a, b, c, d)
        out.append(a ^ b ^ c ^ d)
    return np.array(out, np.uint64)


case("siphash", F, 2, 32, [Out("u64", 64), In("u64", 128), Num("u64", 0x0706050403020100), Num("u64", 0x0F0E0D0C0B0A0908)],
     siphash, TWO)
case("modular_power", F, 2, 32, [Out("u32", 64), In("u32", 64), Num("u32", 123456789)],
     lambda _, x, e: np.array([pow(v, int(e), 998244353) for v in x.tolist()], np.uint32), TWO)
case("base64", F, 1, 96, [Out("u8", 384), In("u8", 288)],
     lambda _, x: np.frombuffer(base64_module.b64encode(x.tobytes()), np.uint8), TWO)


def twister(_, seed):
    out = []
    for t in range(64):
        s = [int(seed) + t]
        for i in range(1, 25):
            s.append(1812433253 * (s[-1] ^ s[-1] >> 30) + i & M32)
        total = 0
        for k in range(60):
            i = k % 25
            y = s[i] & 0x80000000 | s[(i + 1) % 25] & 0x7FFFFFFF
            s[i] = y = s[(i + 7) % 25] ^ y >> 1 ^ (0x8EBFD028 if y & 1 else 0)
            y ^= y << 7 & 0x2B5B2500
            y ^= y << 15 & 0xDB8B0000
            total = total * 31 + (y ^ y >> 16) & M32
        out.append(total)
    return np.array(out, np.uint32)


case("twister", F, 1, 64, [Out("u32", 64), Num("u32", 4357)], twister, TWO)


def saturate(_, a, b):
    d = a.astype(np.float64)
    away = np.trunc(np.abs(d) + 0.5) * np.sign(d)
    wide = np.clip(np.floor((a * np.float32(1e17)).astype(np.float64)), -2.0**63, 2.0**63 - 1024)
    big = [min(max(int(np.floor(np.float64(v))), -2**63), 2**63 - 1) >> 32 for v in a * np.float32(1e17)]
    return np.stack([
        np.rint(d), np.ceil(d), np.abs(d).astype(int) & 255,
        np.clip(np.trunc(b * 1e7), -2.0**31, 2.0**31 - 1),
        np.clip(np.rint(b * 1e8), 0, 2.0**32 - 1).astype(np.uint32).view(np.int32),
        np.array(big), np.rint(d) + away * 3 + np.trunc(d) * 5,
        (b.view(np.uint64) >> np.uint64(32)).astype(np.uint32).view(np.int32) ^ a.view(np.int32)], 1).astype(np.int64)


case("saturate", F, 2, 64, [Out("s32", 1024), In("f32", 128, reals(-150, 150)), In("f64", 128, reals(-300, 300))],
     saturate, TWO)
