// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Integers: intrinsics, wide arithmetic, hashes, random numbers.

#include <stdint.h>

#define I (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void bit_tricks(unsigned *o, const unsigned *p, const unsigned *q) {
  unsigned a = p[I], b = q[I];
  o[I * 8] = __clz(a >> (b & 31)) | __popc(a) << 8 | __ffs(a & b) << 16;
  o[I * 8 + 1] = __brev(a) ^ __byte_perm(a, b, 0x3715);
  o[I * 8 + 2] = __funnelshift_l(a, b, b & 63) + __funnelshift_rc(a, b, a & 63);
  o[I * 8 + 3] = __umulhi(a, b) ^ __mulhi((int)a, (int)b);
  o[I * 8 + 4] = __uhadd(a, b) ^ __rhadd((int)a, (int)b) ^ __usad(a, b, 7);
  o[I * 8 + 5] = __mul24((int)a, (int)b) + __umul24(a, b);
  o[I * 8 + 6] = __popcll((unsigned long long)a * b) + 100 * __clzll((unsigned long long)a * b >> 9);
  o[I * 8 + 7] = __dp4a(a, b, 5u) ^ (unsigned)__dp4a((int)a, (int)b, -5) ^ __dp2a_lo(a, b, 1u);
}

extern "C" __global__ void packed_bytes(unsigned *o, const unsigned *p, const unsigned *q) {
  unsigned a = p[I], b = q[I];
  o[I * 8] = __vadd4(a, b);
  o[I * 8 + 1] = __vsubss4(a, b);
  o[I * 8 + 2] = __vmaxu4(a, b);
  o[I * 8 + 3] = __vabsdiffu4(a, b);
  o[I * 8 + 4] = __vcmpgts4(a, b);
  o[I * 8 + 5] = __vavgu4(a, b);
  o[I * 8 + 6] = __vaddus2(a, b);
  o[I * 8 + 7] = __vsadu4(a, b);
}

extern "C" __global__ void division(long long *o, const long long *p, const long long *q, const int *r) {
  long long a = p[I], b = q[I] | 1;
  int d = r[I] | 1;
  o[I * 6] = a / b;
  o[I * 6 + 1] = a % b;
  o[I * 6 + 2] = (unsigned long long)a / (unsigned long long)b;
  o[I * 6 + 3] = (unsigned long long)a % (unsigned)d;
  o[I * 6 + 4] = (int)a / d;
  o[I * 6 + 5] = (short)a % 1000 + (unsigned)a / 7;
}

extern "C" __global__ void wide(unsigned long long *o, const unsigned long long *p, const unsigned long long *q) {
  unsigned long long a = p[I], b = q[I];
  unsigned __int128 w = (unsigned __int128)a * b + (((unsigned __int128)b << 64) | a);
  w = w * 1000003 - (w >> 37);
  __int128 s = (__int128)(long long)a * (long long)b >> 5;
  o[I * 4] = (unsigned long long)w;
  o[I * 4 + 1] = (unsigned long long)(w >> 64);
  o[I * 4 + 2] = (unsigned long long)s ^ (unsigned long long)(s >> 64);
  o[I * 4 + 3] = (unsigned long long)(w % 1000003);
}

extern "C" __global__ void wide_division(unsigned long long *o, const unsigned long long *p, const unsigned long long *q) {
  unsigned __int128 w = (unsigned __int128)p[I * 2 + 1] << 64 | p[I * 2], d = (unsigned __int128)(q[I * 2 + 1] >> (threadIdx.x & 63)) << 64 | q[I * 2] | 1;
  unsigned __int128 quotient = w / d, rest = w % d;
  o[I * 4] = (unsigned long long)quotient;
  o[I * 4 + 1] = (unsigned long long)(quotient >> 64);
  o[I * 4 + 2] = (unsigned long long)rest;
  o[I * 4 + 3] = (unsigned long long)(rest >> 64);
}

// An addition of numbers of 256 bits with carries.
extern "C" __global__ void big_sum(unsigned *o, const unsigned *p, const unsigned *q) {
  unsigned r[8], a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = p[I * 8 + i], b[i] = q[I * 8 + i];
  asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\t"
      "addc.cc.u32 %3, %11, %19;\n\taddc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\t"
      "addc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),
        "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
  for (int i = 0; i < 8; i++) o[I * 8 + i] = r[i];
}

extern "C" __global__ void crc32(unsigned *o, const unsigned char *p, int n) {
  __shared__ unsigned table[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
    table[i] = c;
  }
  __syncthreads();
  unsigned c = ~0u;
  for (int i = 0; i < n; i++) c = table[(c ^ p[I * n + i]) & 255] ^ c >> 8;
  o[I] = ~c;
}

__constant__ unsigned round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The SHA-256 of a message of 40 bytes for each thread.
extern "C" __global__ void sha256(unsigned *o, const unsigned char *p) {
  auto right = [](unsigned v, int n) { return __funnelshift_r(v, v, n); };
  unsigned w[64], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int i = 0; i < 16; i++) w[i] = 0;
  for (int i = 0; i < 40; i++) w[i / 4] |= (unsigned)p[I * 40 + i] << (24 - i % 4 * 8);
  w[10] = 0x80000000;
  w[15] = 320;
  for (int i = 16; i < 64; i++) {
    unsigned a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (right(a, 7) ^ right(a, 18) ^ a >> 3) + w[i - 7] + (right(b, 17) ^ right(b, 19) ^ b >> 10);
  }
  unsigned v[8];
  for (int i = 0; i < 8; i++) v[i] = s[i];
  for (int i = 0; i < 64; i++) {
    unsigned t = v[7] + (right(v[4], 6) ^ right(v[4], 11) ^ right(v[4], 25)) + (v[4] & v[5] ^ ~v[4] & v[6]) + round_constants[i] + w[i];
    unsigned u = (right(v[0], 2) ^ right(v[0], 13) ^ right(v[0], 22)) + (v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2]);
    for (int k = 7; k > 0; k--) v[k] = v[k - 1];
    v[4] += t;
    v[0] = t + u;
  }
  for (int i = 0; i < 8; i++) o[I * 8 + i] = __byte_perm(s[i] + v[i], 0, 0x0123);
}

// Philox 4x32 with ten rounds.
extern "C" __global__ void philox(uint4 *o, uint2 key, unsigned first) {
  uint4 c = make_uint4(first + I, 1, 2, 3);
  for (int r = 0; r < 10; r++) {
    unsigned h0 = __umulhi(0xD2511F53, c.x), l0 = 0xD2511F53 * c.x, h1 = __umulhi(0xCD9E8D57, c.z), l1 = 0xCD9E8D57 * c.z;
    c = make_uint4(h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0);
    key.x += 0x9E3779B9;
    key.y += 0xBB67AE85;
  }
  o[I] = c;
}

extern "C" __global__ void siphash(unsigned long long *o, const unsigned long long *p, unsigned long long k0, unsigned long long k1) {
  unsigned long long a = k0 ^ 0x736f6d6570736575, b = k1 ^ 0x646f72616e646f6d, c = k0 ^ 0x6c7967656e657261, d = k1 ^ 0x7465646279746573;
  auto turn = [](unsigned long long v, int n) { return v << n | v >> (64 - n); };
  auto mix = [&] {
    a += b, b = turn(b, 13) ^ a, a = turn(a, 32), c += d, d = turn(d, 16) ^ c;
    a += d, d = turn(d, 21) ^ a, c += b, b = turn(b, 17) ^ c, c = turn(c, 32);
  };
  for (int i = 0; i < 3; i++) {
    unsigned long long m = i < 2 ? p[I * 2 + i] : 16ull << 56;
    d ^= m, mix(), mix(), a ^= m;
  }
  c ^= 255;
  for (int i = 0; i < 4; i++) mix();
  o[I] = a ^ b ^ c ^ d;
}

// Powers modulo a prime, by Montgomery's method.
extern "C" __global__ void modular_power(unsigned *o, const unsigned *p, unsigned exponent) {
  const unsigned prime = 998244353, inverse = 998244351;  // -1/prime mod 2^32
  auto multiply = [&](unsigned a, unsigned b) {
    unsigned long long t = (unsigned long long)a * b;
    unsigned m = (unsigned)t * inverse;
    unsigned r = (t + (unsigned long long)m * prime) >> 32;
    return r >= prime ? r - prime : r;
  };
  const unsigned square = 932051910;  // 2^64 mod prime
  unsigned base = multiply(p[I] % prime, square), r = multiply(1, square);
  for (unsigned e = exponent; e; e >>= 1, base = multiply(base, base))
    if (e & 1) r = multiply(r, base);
  o[I] = multiply(r, 1);
}

// Text of base 64.
extern "C" __global__ void base64(char *o, const unsigned char *p) {
  const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned v = p[I * 3] << 16 | p[I * 3 + 1] << 8 | p[I * 3 + 2];
  for (int i = 0; i < 4; i++) o[I * 4 + i] = letters[v >> (18 - 6 * i) & 63];
}

// A generator of Mersenne Twister's kind, state in local memory.
extern "C" __global__ void twister(unsigned *o, unsigned seed) {
  unsigned s[25];
  s[0] = seed + I;
  for (int i = 1; i < 25; i++) s[i] = 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
  unsigned sum = 0;
  for (int k = 0; k < 60; k++) {
    int i = k % 25;
    unsigned y = s[i] & 0x80000000 | s[(i + 1) % 25] & 0x7fffffff;
    s[i] = s[(i + 7) % 25] ^ y >> 1 ^ (y & 1 ? 0x8ebfd028u : 0);
    y = s[i];
    y ^= y << 7 & 0x2b5b2500;
    y ^= y << 15 & 0xdb8b0000;
    sum = sum * 31 + (y ^ y >> 16);
  }
  o[I] = sum;
}

extern "C" __global__ void saturate(int *o, const float *p, const double *q) {
  float a = p[I];
  double b = q[I];
  o[I * 8] = __float2int_rn(a);
  o[I * 8 + 1] = __float2int_ru(a);
  o[I * 8 + 2] = (int)(unsigned char)(int)fabsf(a);
  o[I * 8 + 3] = __double2int_rz(b * 1e7);
  o[I * 8 + 4] = (int)__double2uint_rn(b * 1e8);
  o[I * 8 + 5] = (int)(__float2ll_rd(a * 1e17f) >> 32);
  o[I * 8 + 6] = (int)rintf(a) + (int)roundf(a) * 3 + (int)truncf(a) * 5;
  o[I * 8 + 7] = __double2hiint(b) ^ __float_as_int(a);
}
