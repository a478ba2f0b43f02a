// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Integer, rounding-mode, fast-math, dot-product and packed-SIMD intrinsics.

extern "C" __global__ void integer(unsigned *o, const unsigned *p, const int *s) {
  unsigned a = p[0], b = p[1], c = p[2];
  int x = s[0], y = s[1];
  o[0] = __clz(x) + __ffs(x) + __popc(a) + __brev(b);
  o[1] = __byte_perm(a, b, c);
  o[2] = __funnelshift_l(a, b, c) + __funnelshift_r(a, b, c);
  o[3] = __funnelshift_lc(a, b, c) + __funnelshift_rc(a, b, c);
  o[4] = __mulhi(x, y) + __umulhi(a, b);
  o[5] = __mul24(x, y) + __umul24(a, b);
  o[6] = __sad(x, y, c) + __usad(a, b, c);
  o[7] = __hadd(x, y) + __rhadd(x, y) + __uhadd(a, b) + __urhadd(a, b);
  o[8] = __dp4a(x, y, 3) + __dp4a(a, b, c) + __dp2a_lo(x, y, 1) + __dp2a_hi(a, b, c);
  o[9] = abs(x) + min(x, y) + max(a, b);
}

extern "C" __global__ void integer64(unsigned long long *o, const long long *s) {
  long long x = s[0], y = s[1];
  o[0] = __clzll(x) + __ffsll(x) + __popcll(x) + __brevll(y);
  o[1] = __mul64hi(x, y) + __umul64hi(x, y);
  o[2] = llabs(x) + min(x, y) + max(x, y);
  o[3] = x / y + x % y;
}

extern "C" __global__ void rounding(float *f, double *d) {
  float a = f[0], b = f[1], c = f[2];
  f[3] = __fadd_rn(a, b) + __fadd_rz(a, b) + __fadd_ru(a, b) + __fadd_rd(a, b);
  f[4] = __fmul_rn(a, b) + __fmul_rz(a, b) + __fmul_ru(a, b) + __fmul_rd(a, b);
  f[5] = __fmaf_rn(a, b, c) + __fmaf_rz(a, b, c) + __fmaf_ru(a, b, c) + __fmaf_rd(a, b, c);
  f[6] = __fdiv_rn(a, b) + __fdiv_rz(a, b) + __fdiv_ru(a, b) + __fdiv_rd(a, b);
  f[7] = __frcp_rn(a) + __frcp_rz(a) + __frcp_ru(a) + __frcp_rd(a);
  f[8] = __fsqrt_rn(a) + __fsqrt_rz(a) + __fsqrt_ru(a) + __fsqrt_rd(a) + __frsqrt_rn(b);
  double x = d[0], y = d[1], z = d[2];
  d[3] = __dadd_rn(x, y) + __dadd_rz(x, y) + __dadd_ru(x, y) + __dadd_rd(x, y);
  d[4] = __dmul_rn(x, y) + __dmul_rz(x, y) + __dmul_ru(x, y) + __dmul_rd(x, y);
  d[5] = __fma_rn(x, y, z) + __fma_rz(x, y, z) + __fma_ru(x, y, z) + __fma_rd(x, y, z);
  d[6] = __ddiv_rn(x, y) + __ddiv_rz(x, y) + __drcp_ru(x) + __dsqrt_rd(y);
}

extern "C" __global__ void fast(float *f) {
  float a = f[threadIdx.x];
  float s, c;
  __sincosf(a, &s, &c);
  f[0] = __sinf(a) + __cosf(a) + __tanf(a) + s + c;
  f[1] = __expf(a) + __exp10f(a) + __logf(a) + __log2f(a) + __log10f(a);
  f[2] = __powf(a, s) + __fdividef(a, c) + __saturatef(a);
  f[3] = rsqrtf(a) + fminf(a, s) + fmaxf(a, c) + fabsf(a) + copysignf(a, s);
  f[4] = truncf(a) + floorf(a) + ceilf(a) + rintf(a) + roundf(a) + nearbyintf(a);
}

extern "C" __global__ void casts(int *o, float *f, double *d, long long *l) {
  float a = f[0];
  double x = d[0];
  o[0] = __float2int_rn(a) + __float2int_rz(a) + __float2int_ru(a) + __float2int_rd(a);
  o[1] = __float2uint_rn(a) + __float2uint_rz(a) + __float_as_int(a);
  o[2] = __double2int_rn(x) + __double2int_rz(x) + __double2hiint(x) + __double2loint(x);
  l[0] = __float2ll_rn(a) + __float2ll_rd(a) + __double2ll_ru(x) + __double_as_longlong(x);
  l[1] = __float2ull_rz(a) + __double2ull_rn(x);
  f[1] = __int2float_rn(o[3]) + __int2float_rz(o[3]) + __uint2float_ru(o[4]) + __int_as_float(o[5]);
  f[2] = __ll2float_rn(l[2]) + __ull2float_rd(l[3]) + __double2float_rn(x) + __double2float_rd(x);
  d[1] = __int2double_rn(o[6]) + __uint2double_rn(o[7]) + __ll2double_rz(l[4]) + __hiloint2double(o[8], o[9]);
}

extern "C" __global__ void packed(unsigned *o, const unsigned *p) {
  unsigned a = p[0], b = p[1];
  o[0] = __vadd2(a, b) + __vadd4(a, b) + __vaddss2(a, b) + __vaddss4(a, b) + __vaddus2(a, b) + __vaddus4(a, b);
  o[1] = __vsub2(a, b) + __vsub4(a, b) + __vsubss4(a, b) + __vsubus2(a, b);
  o[2] = __vabs2(a) + __vabs4(a) + __vabsdiffs2(a, b) + __vabsdiffu4(a, b) + __vabsss4(a);
  o[3] = __vavgs2(a, b) + __vavgu4(a, b) + __vhaddu2(a, b) + __vhaddu4(a, b);
  o[4] = __vmaxs2(a, b) + __vmaxu4(a, b) + __vmins4(a, b) + __vminu2(a, b);
  o[5] = __vcmpeq2(a, b) + __vcmpges4(a, b) + __vcmpltu2(a, b) + __vcmpne4(a, b);
  o[6] = __vseteq4(a, b) + __vsetgts2(a, b) + __vsetleu4(a, b);
  o[7] = __vsads2(a, b) + __vsadu4(a, b) + __vneg2(a) + __vnegss4(b);
  o[8] = __viaddmax_s32(a, b, 3) + __vimax3_s32(a, b, 7) + __vimin3_u16x2(a, b, 9) + __viaddmin_s16x2_relu(a, b, 4);
}

extern "C" __global__ void clocks(long long *o) {
  o[0] = clock64() + clock();
  unsigned id, lane;
  asm("mov.u32 %0, %%smid;" : "=r"(id));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  o[2] = id + lane + warpSize;
}
