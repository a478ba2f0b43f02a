// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Integer-heavy programs: SHA-256, ChaCha20, Philox, AES round, big integers, CRC, Keccak.

__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned spin(unsigned x, int n) { return x >> n | x << (32 - n); }

extern "C" __global__ void sha(unsigned *state, const unsigned *block) {
  unsigned w[64], s[8];
#pragma unroll
  for (int i = 0; i < 16; i++) w[i] = __byte_perm(block[i], 0, 0x0123);
#pragma unroll
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + (spin(w[i - 15], 7) ^ spin(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
           (spin(w[i - 2], 17) ^ spin(w[i - 2], 19) ^ w[i - 2] >> 10);
  for (int i = 0; i < 8; i++) s[i] = state[i];
#pragma unroll
  for (int i = 0; i < 64; i++) {
    unsigned t = s[7] + (spin(s[4], 6) ^ spin(s[4], 11) ^ spin(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
    unsigned u = (spin(s[0], 2) ^ spin(s[0], 13) ^ spin(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int k = 7; k; k--) s[k] = s[k - 1];
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

__device__ void quarter(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
  a += b; d ^= a; d = spin(d, 16);
  c += d; b ^= c; b = spin(b, 20);
  a += b; d ^= a; d = spin(d, 24);
  c += d; b ^= c; b = spin(b, 25);
}

extern "C" __global__ void chacha(uint4 *o, const uint4 *key, unsigned start) {
  unsigned x[16], y[16];
  uint4 k0 = key[0], k1 = key[1];
  unsigned init[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, k0.x, k0.y, k0.z, k0.w, k1.x, k1.y, k1.z, k1.w, start + threadIdx.x, 0, 7, 9};
  for (int i = 0; i < 16; i++) x[i] = y[i] = init[i];
  for (int i = 0; i < 10; i++) {
    quarter(x[0], x[4], x[8], x[12]);
    quarter(x[1], x[5], x[9], x[13]);
    quarter(x[2], x[6], x[10], x[14]);
    quarter(x[3], x[7], x[11], x[15]);
    quarter(x[0], x[5], x[10], x[15]);
    quarter(x[1], x[6], x[11], x[12]);
    quarter(x[2], x[7], x[8], x[13]);
    quarter(x[3], x[4], x[9], x[14]);
  }
  for (int i = 0; i < 4; i++)
    o[threadIdx.x * 4 + i] = make_uint4(x[4 * i] + y[4 * i], x[4 * i + 1] + y[4 * i + 1], x[4 * i + 2] + y[4 * i + 2], x[4 * i + 3] + y[4 * i + 3]);
}

extern "C" __global__ void philox(uint4 *o, uint2 key, unsigned n) {
  uint4 c = {blockIdx.x, threadIdx.x, n, 0};
#pragma unroll
  for (int i = 0; i < 10; i++) {
    unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
    unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  o[threadIdx.x] = c;
}

extern "C" __global__ void keccak(unsigned long long *s) {
  unsigned long long a[25], c[5];
#pragma unroll
  for (int i = 0; i < 25; i++) a[i] = s[threadIdx.x * 25 + i];
#pragma unroll 2
  for (int r = 0; r < 24; r++) {
#pragma unroll
    for (int i = 0; i < 5; i++) c[i] = a[i] ^ a[i + 5] ^ a[i + 10] ^ a[i + 15] ^ a[i + 20];
#pragma unroll
    for (int i = 0; i < 25; i++) {
      unsigned long long d = c[(i + 1) % 5];
      a[i] ^= c[(i + 4) % 5] ^ (d << 1 | d >> 63);
    }
#pragma unroll
    for (int j = 0; j < 25; j += 5) {
      unsigned long long t[5] = {a[j], a[j + 1], a[j + 2], a[j + 3], a[j + 4]};
      for (int i = 0; i < 5; i++) a[j + i] = t[i] ^ (~t[(i + 1) % 5] & t[(i + 2) % 5]);
    }
    a[0] ^= 0x8000000080008081ull + r;
  }
#pragma unroll
  for (int i = 0; i < 25; i++) s[threadIdx.x * 25 + i] = a[i];
}

extern "C" __global__ void bignum(unsigned *r, const unsigned *a, const unsigned *b) {
  unsigned long long carry = 0;
  unsigned t[16] = {};
#pragma unroll
  for (int i = 0; i < 8; i++) {
    carry = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      carry += (unsigned long long)a[i] * b[j] + t[i + j];
      t[i + j] = (unsigned)carry;
      carry >>= 32;
    }
    t[i + 8] = (unsigned)carry;
  }
  for (int i = 0; i < 16; i++) r[i] = t[i];
  asm("add.cc.u32 %0, %3, %6; addc.cc.u32 %1, %4, %7; addc.u32 %2, %5, %8;"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(b[0]), "r"(b[1]), "r"(b[2]));
  asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5;" : "=r"(r[3]), "=r"(r[4]) : "r"(a[3]), "r"(b[3]), "r"(t[0]), "r"(t[1]));
  asm("sub.cc.s32 %0, %2, %3; subc.s32 %1, %4, %5;" : "=r"(r[5]), "=r"(r[6]) : "r"(a[0]), "r"(b[0]), "r"(a[1]), "r"(b[1]));
}

extern "C" __global__ void crc(unsigned *o, const unsigned char *p, int n) {
  __shared__ unsigned table[256];
  unsigned v = threadIdx.x;
  for (int i = 0; i < 8; i++) v = v & 1 ? v >> 1 ^ 0xEDB88320u : v >> 1;
  table[threadIdx.x] = v;
  __syncthreads();
  unsigned sum = ~0u;
  for (int i = 0; i < n; i++) sum = table[(sum ^ p[i]) & 255] ^ sum >> 8;
  o[threadIdx.x] = ~sum;
}
