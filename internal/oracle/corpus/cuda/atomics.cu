// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Atomics of every width and scope, built in and from libcu++ with memory orders.

#include <cuda/atomic>
#include <cuda_fp16.h>

template <class T> __global__ void integer(T *p, T *out, T v) {
  T r = atomicAdd(p, v);
  r += atomicSub(p + 1, v);
  r += atomicExch(p + 2, v);
  r += atomicMin(p + 3, v);
  r += atomicMax(p + 4, v);
  r += atomicAnd(p + 5, v);
  r += atomicOr(p + 6, v);
  r += atomicXor(p + 7, v);
  r += atomicCAS(p + 8, v, r);
  r += atomicAdd_block(p + 9, v) + atomicAdd_system(p + 10, v);
  r += atomicMax_block(p + 11, v) + atomicCAS_system(p + 12, v, r);
  *out = r;
}
template __global__ void integer<int>(int *, int *, int);
template __global__ void integer<unsigned>(unsigned *, unsigned *, unsigned);

extern "C" __global__ void counters(unsigned *p, unsigned long long *q, unsigned short *s) {
  p[9] = atomicInc(p, 17) + atomicDec(p + 1, 19);
  q[9] = atomicAdd(q, 5ull) + atomicCAS(q + 1, 3ull, 4ull) + atomicMin(q + 2, 6ull) + atomicExch(q + 3, 7ull);
  q[8] = atomicAnd(q + 4, 5ull) + atomicXor_block(q + 5, 9ull) + atomicMax((long long *)q + 6, -5ll);
  s[9] = atomicCAS(s, (unsigned short)3, (unsigned short)4);
}

extern "C" __global__ void floating(float *f, double *d, __half2 *h, __half *one) {
  atomicAdd(f, 1.5f);
  f[1] = atomicAdd(f + 2, 2.5f) + atomicExch(f + 3, 1.0f) + atomicAdd_system(f + 4, 3.0f);
  d[1] = atomicAdd(d, 2.5) + atomicAdd_block(d + 2, 1.0);
  atomicAdd(h, __float2half2_rn(1.0f));
  atomicAdd(one, __float2half(1.0f));
}

__shared__ int tally[64];

extern "C" __global__ void shared(int *out) {
  tally[threadIdx.x & 63] = 0;
  __syncthreads();
  atomicAdd(&tally[threadIdx.x % 7], 1);
  atomicMax(&tally[threadIdx.x % 11], 4);
  atomicCAS(&tally[0], 1, 2);
  __syncthreads();
  out[threadIdx.x] = tally[threadIdx.x & 63];
}

template <cuda::thread_scope S> __device__ int ordered(int *p) {
  cuda::atomic_ref<int, S> a(*p);
  int r = a.load(cuda::memory_order_relaxed) + a.load(cuda::memory_order_acquire) + a.load();
  a.store(r, cuda::memory_order_relaxed);
  a.store(r, cuda::memory_order_release);
  a.store(r);
  r += a.fetch_add(3, cuda::memory_order_relaxed) + a.fetch_sub(2, cuda::memory_order_acq_rel);
  r += a.fetch_and(3, cuda::memory_order_acquire) + a.fetch_or(8, cuda::memory_order_release) + a.fetch_xor(7);
  r += a.fetch_min(3) + a.fetch_max(9, cuda::memory_order_relaxed) + a.exchange(4, cuda::memory_order_acq_rel);
  int want = 5;
  while (!a.compare_exchange_weak(want, want + 1, cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) r++;
  return r;
}

extern "C" __global__ void orders(int *p) {
  p[100] = ordered<cuda::thread_scope_block>(p) + ordered<cuda::thread_scope_device>(p + 1) +
           ordered<cuda::thread_scope_system>(p + 2);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}
