// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Bulk and tensor copies, mbarriers, clusters, remote atomics, fences, launch control.

#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;
using u64 = unsigned long;
struct alignas(64) Map { char bytes[128]; };

extern "C" __global__ void barriers(u64 *o) {
  __shared__ u64 bar[4];
  ptx::mbarrier_init(&bar[0], 32);
  ptx::mbarrier_init(&bar[1], 1);
  u64 token = ptx::mbarrier_arrive(&bar[0]);
  token += ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[0], 2);
  token += ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[1], 512);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, &bar[1], 64);
  while (!ptx::mbarrier_try_wait(&bar[0], token)) {}
  while (!ptx::mbarrier_test_wait(&bar[1], token)) {}
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar[1], 1, 1000)) {}
  while (!ptx::mbarrier_test_wait_parity(&bar[2], 0)) {}
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(&bar[0])) : "memory");
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 128;" ::"r"((unsigned)__cvta_generic_to_shared(&bar[1])) : "memory");
  o[0] = token;
}

extern "C" __global__ void plain(char *o, const char *p) {
  extern __shared__ __align__(128) char s[];
  __shared__ u64 bar;
  ptx::mbarrier_init(&bar, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, p, 1024, &bar);
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, s, s + 1024, 512, &bar);
  ptx::fence_proxy_async(ptx::space_shared);
  ptx::fence_proxy_async();
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, o, s, 256);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<1>());
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, (int *)o, (const int *)s, 64);
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, (unsigned *)o, (const unsigned *)s, 64);
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, (float *)o, (const float *)s, 64);
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, (double *)o, (const double *)s, 64);
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_and_op, (int *)o, (const int *)s, 64);
  ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, ptx::op_inc, (unsigned *)s, (const unsigned *)s + 64, 64, &bar);
}

extern "C" __global__ void tensors(const __grid_constant__ Map map, Map *there) {
  extern __shared__ __align__(128) char s[];
  __shared__ u64 bar;
  const int c1[1] = {1}, c2[2] = {1, 2}, c3[3] = {1, 2, 3}, c4[4] = {1, 2, 3, 4}, c5[5] = {1, 2, 3, 4, 5};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c1, &bar);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c2, &bar);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c3, &bar);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c4, &bar);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c5, &bar);
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, c1, s);
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, c5, s);
  ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, c2, s);
  ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_min, &map, c4, s);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(&map), "r"(3), "r"(4) : "memory");
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(there), "r"(128) : "memory");
  unsigned to = (unsigned)__cvta_generic_to_shared(s), b = (unsigned)__cvta_generic_to_shared(&bar);
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2,%2,%2,%2}], [%3], {%4, %4};"
               ::"r"(to), "l"(&map), "r"(1), "r"(b), "h"((short)1) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2,%2}], [%3], %4;"
               ::"r"(to), "l"(&map), "r"(1), "r"(b), "l"(0x14F0000000000000ull) : "memory");
  ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);
  ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_sys, there, ptx::n32_t<128>());
}

template <class T> __device__ T *peer(T *p, unsigned rank) {
  T *r;
  asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank));
  return r;
}

extern "C" __global__ void __cluster_dims__(2) remote(int *o, double *d) {
  __shared__ u64 bar;
  __shared__ int cell[64];
  __shared__ alignas(16) int four[4];
  unsigned rank = ptx::get_sreg_cluster_ctarank();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  int *other = peer(cell, rank ^ 1);
  u64 *there = peer(&bar, rank ^ 1);
  ptx::st_async(other, 7, there);
  const int two[2] = {1, 2};
  ptx::st_async(other, two, there);
  ptx::red_async(ptx::op_add, other, 3, there);
  ptx::red_async(ptx::op_max, (unsigned *)other, 3u, there);
  ptx::red_async(ptx::op_xor_op, other, 3, there);
  o[0] = ptx::getctarank(ptx::space_cluster, other) + ptx::get_sreg_cluster_nctarank() + four[rank];
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(o[1]) : "r"((unsigned)__cvta_generic_to_shared(other)));
  asm volatile("atom.relaxed.cluster.shared::cluster.add.s32 %0, [%1], 3;" : "=r"(o[2]) : "r"((unsigned)__cvta_generic_to_shared(other)));
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

extern "C" __global__ void elected(int *o) {
  unsigned p;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(p));
  if (p) o[0] = 3;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
  if (threadIdx.x < 128)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
#endif
  o[1] = p;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
extern "C" __global__ void multicast(const __grid_constant__ Map map, const char *p) {
  extern __shared__ __align__(128) char s[];
  __shared__ u64 bar;
  const int c2[2] = {1, 2}, c3[3] = {1, 2, 3};
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, p, 1024, &bar, (unsigned short)3);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c2, &bar, (unsigned short)3);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c3, &bar, (unsigned short)3);
}

extern "C" __global__ void replace(Map *out) {
  __shared__ alignas(128) Map map;
  ptx::tensormap_replace_global_address(ptx::space_shared, &map, out);
  ptx::tensormap_replace_rank(ptx::space_shared, &map, 2);
  ptx::tensormap_replace_box_dim(ptx::space_shared, &map, ptx::n32_t<0>(), 64u);
  ptx::tensormap_replace_global_dim(ptx::space_shared, &map, ptx::n32_t<1>(), 4096u);
  ptx::tensormap_replace_global_stride(ptx::space_shared, &map, ptx::n32_t<0>(), 8192ull);
  ptx::tensormap_replace_element_size(ptx::space_shared, &map, ptx::n32_t<0>(), 1u);
  ptx::tensormap_replace_elemtype(ptx::space_shared, &map, ptx::n32_t<5>());
  ptx::tensormap_replace_interleave_layout(ptx::space_shared, &map, ptx::n32_t<0>());
  ptx::tensormap_replace_swizzle_mode(ptx::space_shared, &map, ptx::n32_t<3>());
  ptx::tensormap_replace_fill_mode(ptx::space_shared, &map, ptx::n32_t<0>());
  ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, out, &map, ptx::n32_t<128>());
}
#endif

extern "C" __global__ void multimem(float *o, float *p) {
  float r;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(r) : "l"(p) : "memory");
  asm volatile("multimem.st.release.sys.global.f32 [%0], %1;" ::"l"(p), "f"(r) : "memory");
  asm volatile("multimem.red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(p), "f"(r) : "memory");
  float a, b, c, d;
  asm volatile("multimem.ld_reduce.weak.global.add.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p) : "memory");
  o[0] = a + b + c + d;
}

#if __CUDA_ARCH__ >= 1000
extern "C" __global__ void launch(int *o) {
  __shared__ alignas(16) __int128 answer;
  __shared__ u64 bar;
  ptx::clusterlaunchcontrol_try_cancel(&answer, &bar);
  longlong2 raw = *reinterpret_cast<longlong2 *>(&answer);
  __int128 a = (__int128)raw.y << 64 | (u64)raw.x;
  if (ptx::clusterlaunchcontrol_query_cancel_is_canceled(a)) {
    o[0] = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(a);
    int id[4];
    ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid(id, a);
    o[1] = id[2];
  }
}
#endif
