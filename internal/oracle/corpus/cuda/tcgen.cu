// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Tensor memory and the fifth generation of tensor cores.

#include <cuda/ptx>

namespace ptx = cuda::ptx;
using u64 = unsigned long;
using u32 = unsigned;

extern "C" __global__ void allocate(u32 *o) {
  __shared__ u32 address;
  ptx::tcgen05_alloc(ptx::cta_group_1, &address, 128);
  ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
  __syncthreads();
  o[0] = address;
  ptx::tcgen05_fence_before_thread_sync();
  ptx::tcgen05_fence_after_thread_sync();
  ptx::tcgen05_dealloc(ptx::cta_group_1, address, 128);
}

extern "C" __global__ void __cluster_dims__(2) allocatepair(u32 *o) {
  __shared__ u32 address;
  ptx::tcgen05_alloc(ptx::cta_group_2, &address, 512);
  ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_2);
  o[0] = address;
  ptx::tcgen05_dealloc(ptx::cta_group_2, address, 512);
}

#define MULTIPLY(KIND, CTA, OPTIONS, A, LA) \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::" #CTA ".kind::" #KIND OPTIONS " [%0], " A ", %2, %3, p; }" \
               ::"r"(d), LA, "l"(y), "r"(i), "r"(more) : "memory")
#define ALL(KIND) \
  MULTIPLY(KIND, 1, "", "%1", "l"(x)); \
  MULTIPLY(KIND, 1, "", "[%1]", "r"(a)); \
  MULTIPLY(KIND, 1, ".collector::a::fill", "%1", "l"(x)); \
  MULTIPLY(KIND, 1, ".collector::a::discard", "[%1]", "r"(a))
// A kernel uses one CTA group for all its tensor instructions.
#define PAIRS(KIND) \
  MULTIPLY(KIND, 2, "", "%1", "l"(x)); \
  MULTIPLY(KIND, 2, ".collector::a::lastuse", "%1", "l"(x))
#define WEIGHTS(KIND, OPTIONS, TAIL) \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.ws.cta_group::1.kind::" #KIND OPTIONS " [%0], %1, %2, %3, p" TAIL "; }" \
               ::"r"(d), "l"(x), "l"(y), "r"(i), "r"(more) : "memory")

extern "C" __global__ void multiplies(u32 d, u32 a, u64 x, u64 y, u32 i, int more, u32 m) {
  ALL(f16);
  ALL(tf32);
  ALL(f8f6f4);
  WEIGHTS(f16, "", "");
  WEIGHTS(tf32, ".collector::b0::fill", "");
  WEIGHTS(f8f6f4, ".collector::b1::use", ", 0");
  WEIGHTS(f16, ".collector::b3::lastuse", "");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%5, %5, %5, %5}, p; }"
               ::"r"(d), "l"(x), "l"(y), "r"(i), "r"(more), "r"(m) : "memory");
#if __CUDA_ARCH__ < 1100
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p, 7; }"
               ::"r"(d), "l"(x), "l"(y), "r"(i), "r"(more) : "memory");
#endif
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %2, [%3], %4, p; }"
               ::"r"(d), "l"(x), "l"(y), "r"(a), "r"(i), "r"(more) : "memory");
}

extern "C" __global__ void multiplies_pairs(u32 d, u64 x, u64 y, u32 i, int more) {
  PAIRS(f16);
  PAIRS(tf32);
  PAIRS(f8f6f4);
}

extern "C" __global__ void scaled(u32 d, u64 x, u64 y, u32 i, u32 sa, u32 sb, int more) {
  ptx::tcgen05_mma_block_scale_vec_1x(ptx::kind_mxf8f6f4, ptx::cta_group_1, d, x, y, i, sa, sb, more);
  ptx::tcgen05_mma_block_scale_vec_4x(ptx::kind_mxf4nvf4, ptx::cta_group_1, d, x, y, i, sa, sb, more);
}

extern "C" __global__ void scaled_pairs(u32 d, u64 x, u64 y, u32 i, u32 sa, u32 sb, int more) {
  ptx::tcgen05_mma_block_scale_vec_2x(ptx::kind_mxf4, ptx::cta_group_2, d, x, y, i, sa, sb, more);
}

extern "C" __global__ void copies(u32 t, u64 s) {
  ptx::tcgen05_cp_128x256b(ptx::cta_group_1, t, s);
  ptx::tcgen05_cp_128x128b(ptx::cta_group_1, t, s);
  ptx::tcgen05_cp_64x128b_warpx2_02_13(ptx::cta_group_1, t, s);
  ptx::tcgen05_cp_32x128b_warpx4(ptx::cta_group_1, t, s);
  ptx::tcgen05_cp_128x256b_b8x16_b6x16_p32(ptx::cta_group_1, t, s);
  ptx::tcgen05_cp_128x256b_b8x16_b4x16_p64(ptx::cta_group_1, t, s);
  ptx::tcgen05_shift_down(ptx::cta_group_1, t);
}

extern "C" __global__ void copies_pairs(u32 t, u64 s) {
  ptx::tcgen05_cp_4x256b(ptx::cta_group_2, t, s);
}

extern "C" __global__ void commits_pairs(u64 *o) {
  __shared__ u64 bar;
  ptx::tcgen05_commit(ptx::cta_group_2, &bar);
}

extern "C" __global__ void commits(u64 *o) {
  __shared__ u64 bar;
  ptx::tcgen05_commit(ptx::cta_group_1, &bar);
  ptx::tcgen05_commit_multicast(ptx::cta_group_1, &bar, (unsigned short)3);
}

extern "C" __global__ void move16x64b_1(u32 *o, u32 t) {
  u32 v[1];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 1; i++) o[threadIdx.x * 1 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_1_pack_16b(u32 *o, u32 t) {
  u32 v[1];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 1; i++) o[threadIdx.x * 1 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_2(u32 *o, u32 t) {
  u32 v[2];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 2; i++) o[threadIdx.x * 2 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_2_pack_16b(u32 *o, u32 t) {
  u32 v[2];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 2; i++) o[threadIdx.x * 2 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_4(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_4_pack_16b(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_8(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_8_pack_16b(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_16(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_16_pack_16b(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_32(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_32_pack_16b(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_64(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_64_pack_16b(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_128(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_16x64b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_16x64b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x64b_128_pack_16b(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_16x64b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_16x64b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_1(u32 *o, u32 t) {
  u32 v[2];
  ptx::tcgen05_ld_16x128b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 2; i++) o[threadIdx.x * 2 + i] = ++v[i];
  ptx::tcgen05_st_16x128b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_1_pack_16b(u32 *o, u32 t) {
  u32 v[2];
  ptx::tcgen05_ld_16x128b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 2; i++) o[threadIdx.x * 2 + i] = ++v[i];
  ptx::tcgen05_st_16x128b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_2(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_16x128b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_16x128b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_2_pack_16b(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_16x128b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_16x128b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_4(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_16x128b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_16x128b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_4_pack_16b(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_16x128b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_16x128b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_8(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_16x128b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_16x128b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_8_pack_16b(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_16x128b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_16x128b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_16(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_16x128b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_16x128b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_16_pack_16b(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_16x128b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_16x128b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_32(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_16x128b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_16x128b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_32_pack_16b(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_16x128b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_16x128b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_64(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_16x128b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_16x128b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x128b_64_pack_16b(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_16x128b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_16x128b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_1(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_16x256b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_16x256b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_1_pack_16b(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_16x256b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_16x256b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_2(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_16x256b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_16x256b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_2_pack_16b(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_16x256b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_16x256b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_4(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_16x256b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_16x256b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_4_pack_16b(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_16x256b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_16x256b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_8(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_16x256b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_16x256b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_8_pack_16b(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_16x256b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_16x256b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_16(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_16x256b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_16x256b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_16_pack_16b(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_16x256b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_16x256b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_32(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_16x256b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_16x256b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move16x256b_32_pack_16b(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_16x256b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_16x256b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_1(u32 *o, u32 t) {
  u32 v[1];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 1; i++) o[threadIdx.x * 1 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_1_pack_16b(u32 *o, u32 t) {
  u32 v[1];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 1; i++) o[threadIdx.x * 1 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_2(u32 *o, u32 t) {
  u32 v[2];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 2; i++) o[threadIdx.x * 2 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_2_pack_16b(u32 *o, u32 t) {
  u32 v[2];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 2; i++) o[threadIdx.x * 2 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_4(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_4_pack_16b(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_8(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_8_pack_16b(u32 *o, u32 t) {
  u32 v[8];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 8; i++) o[threadIdx.x * 8 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_16(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_16_pack_16b(u32 *o, u32 t) {
  u32 v[16];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 16; i++) o[threadIdx.x * 16 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_32(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_32_pack_16b(u32 *o, u32 t) {
  u32 v[32];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; i++) o[threadIdx.x * 32 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_64(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_64_pack_16b(u32 *o, u32 t) {
  u32 v[64];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 64; i++) o[threadIdx.x * 64 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_128(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void move32x32b_128_pack_16b(u32 *o, u32 t) {
  u32 v[128];
  ptx::tcgen05_ld_32x32b_pack_16b(v, t);
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 128; i++) o[threadIdx.x * 128 + i] = ++v[i];
  ptx::tcgen05_st_32x32b_unpack_16b(t, v);
  ptx::tcgen05_wait_st();
}

extern "C" __global__ void split(u32 *o, u32 t) {
  u32 v[4];
  ptx::tcgen05_ld_16x32bx2(v, t, ptx::n32_t<16>());
  ptx::tcgen05_wait_ld();
  o[0] = v[0] + v[3];
  ptx::tcgen05_st_16x32bx2(t, ptx::n32_t<16>(), v);
}
