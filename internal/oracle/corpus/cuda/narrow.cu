// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Half, bfloat16, fp8, fp6 and fp4: arithmetic and conversions.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

template <class H> __global__ void scalar(H *o, const H *p) {
  H a = p[0], b = p[1], c = p[2];
  o[0] = __hadd(a, b);
  o[1] = __hsub(a, b);
  o[2] = __hmul(a, b);
  o[3] = __hfma(a, b, c);
  o[4] = __hdiv(a, b);
  o[5] = __hneg(a) + __habs(b);
  o[6] = hsqrt(a) + hrsqrt(a) + hexp(b) + hexp2(b) + hlog(a) + hlog2(b) + hsin(a) + hcos(b) + hrcp(c);
  o[7] = hfloor(a) + hceil(b) + htrunc(c) + hrint(a);
  o[8] = __hmin(a, b) + __hmax(a, b) + __hadd_sat(a, b) + __hmul_sat(b, c) + __hfma_sat(a, b, c);
  o[9] = __hlt(a, b) ? a : __hge(a, c) ? b : __heq(a, b) || __hisnan(c) ? c : a;
  o[10] = __hfma_relu(a, b, c) + __hmin_nan(a, b) + __hmax_nan(b, c);
}
template __global__ void scalar<__half>(__half *, const __half *);
#if __CUDA_ARCH__ >= 800
template __global__ void scalar<__nv_bfloat16>(__nv_bfloat16 *, const __nv_bfloat16 *);
#endif

template <class H2> __global__ void pairs(H2 *o, const H2 *p, unsigned *m) {
  H2 a = p[0], b = p[1], c = p[2];
  o[0] = __hadd2(a, b);
  o[1] = __hmul2(a, b);
  o[2] = __hfma2(a, b, c);
  o[3] = __hsub2(a, b);
  o[4] = h2exp(a);
  o[5] = h2sqrt(b);
  o[6] = __hmin2(a, b);
  o[7] = __hmax2(a, c);
  o[8] = __lowhigh2highlow(a);
  o[9] = __hneg2(a);
  o[10] = __hfma2_sat(a, b, c);
  o[11] = __habs2(c);
  m[0] = __hlt2_mask(a, b) + __heq2_mask(a, b) + __hbge2(a, b) + __hbne2(a, c);
}
template __global__ void pairs<__half2>(__half2 *, const __half2 *, unsigned *);
#if __CUDA_ARCH__ >= 800
template __global__ void pairs<__nv_bfloat162>(__nv_bfloat162 *, const __nv_bfloat162 *, unsigned *);
#endif

extern "C" __global__ void conversions(float *f, __half *h, __nv_bfloat16 *b, int *i, double *d) {
  h[0] = __float2half_rn(f[0]);
  h[1] = __float2half_rz(f[1]);
  h[2] = __float2half_ru(f[1]);
  h[3] = __int2half_rn(i[0]);
  h[4] = __double2half(d[0]);
  h[5] = __ushort2half_rd((unsigned short)i[3]);
  b[0] = __float2bfloat16_rn(f[2]);
  b[1] = __float2bfloat16_rd(f[3]);
  b[2] = __int2bfloat16_rn(i[1]);
  b[3] = __double2bfloat16(d[1]);
  f[4] = __half2float(h[3]) + __bfloat162float(b[3]);
  i[2] = __half2int_rn(h[4]) + __half2int_rz(h[5]) + __bfloat162int_rn(b[4]) + __half2short_ru(h[6]);
  i[4] = (int)__half2ll_rd(h[6]) + (int)__bfloat162ull_rz(b[5]);
  ((__half2 *)h)[4] = __float22half2_rn(make_float2(f[5], f[6]));
  ((__nv_bfloat162 *)b)[4] = __float22bfloat162_rn(make_float2(f[5], f[6]));
}

extern "C" __global__ void eight(unsigned short *o, unsigned char *c, float *f, __half2 *h, __nv_bfloat162 *b) {
  o[0] = __nv_cvt_float2_to_fp8x2(make_float2(f[0], f[1]), __NV_SATFINITE, __NV_E4M3);
  o[1] = __nv_cvt_float2_to_fp8x2(make_float2(f[0], f[1]), __NV_SATFINITE, __NV_E5M2);
  o[2] = __nv_cvt_halfraw2_to_fp8x2((__half2_raw)h[0], __NV_NOSAT, __NV_E4M3);
  o[3] = __nv_cvt_bfloat16raw2_to_fp8x2((__nv_bfloat162_raw)b[0], __NV_SATFINITE, __NV_E5M2);
  h[1] = __half2(__nv_cvt_fp8x2_to_halfraw2(o[4], __NV_E4M3));
  h[2] = __half2(__nv_cvt_fp8x2_to_halfraw2(o[5], __NV_E5M2));
  c[0] = __nv_cvt_float_to_fp8(f[2], __NV_SATFINITE, __NV_E4M3);
  c[1] = __nv_cvt_float_to_e8m0(f[3], __NV_SATFINITE, cudaRoundPosInf);
  b[1] = __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(o[6]));
}

extern "C" __global__ void six(unsigned short *o, unsigned char *c, float *f, __half2 *h) {
  o[0] = __nv_cvt_float2_to_fp6x2(make_float2(f[0], f[1]), __NV_E2M3, cudaRoundNearest);
  o[1] = __nv_cvt_float2_to_fp6x2(make_float2(f[0], f[1]), __NV_E3M2, cudaRoundNearest);
  h[0] = __half2(__nv_cvt_fp6x2_to_halfraw2(o[2], __NV_E2M3));
  h[1] = __half2(__nv_cvt_fp6x2_to_halfraw2(o[3], __NV_E3M2));
  c[0] = __nv_cvt_float2_to_fp4x2(make_float2(f[0], f[1]), __NV_E2M1, cudaRoundNearest);
  h[2] = __half2(__nv_cvt_fp4x2_to_halfraw2(c[1], __NV_E2M1));
}

extern "C" __global__ void load(__half2 *o, const __half2 *p, __nv_bfloat16 *q) {
  o[0] = __ldg(p);
  o[1] = __ldcg(p + 1);
  o[2] = __ldcs(p + 2);
  __stcg(o + 3, o[0]);
  o[4] = __shfl_xor_sync(~0u, o[0], 3);
  q[1] = __shfl_down_sync(~0u, q[0], 1);
  atomicAdd(q + 2, q[0]);
}
