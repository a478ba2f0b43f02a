// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Warp-wide exchange, votes, matching, reduction; barriers of a block.

template <class T> __device__ T dance(T v) {
  unsigned all = 0xffffffffu;
  v += __shfl_sync(all, v, 3);
  v += __shfl_up_sync(all, v, 1);
  v += __shfl_down_sync(all, v, 2, 16);
  v += __shfl_xor_sync(all, v, 4);
  return v;
}

template <class T> __global__ void exchange(T *p) { p[threadIdx.x] = dance(p[threadIdx.x]); }
template __global__ void exchange<int>(int *);
template __global__ void exchange<unsigned long long>(unsigned long long *);
template __global__ void exchange<float>(float *);
template __global__ void exchange<double>(double *);

extern "C" __global__ void votes(unsigned *o, const int *p) {
  int v = p[threadIdx.x];
  unsigned live = __activemask();
  o[0] = __ballot_sync(live, v > 3);
  o[1] = __any_sync(live, v > 4) + __all_sync(live, v < 9);
  o[2] = __match_any_sync(live, v);
  int same;
  o[3] = __match_all_sync(live, (long long)v, &same) + same;
  __syncwarp(live);
  o[4] = __syncthreads_count(v) + __syncthreads_and(v & 1) + __syncthreads_or(v & 2);
  __syncthreads();
  __nanosleep(100);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reduce(unsigned *o, int *s) {
  unsigned v = o[threadIdx.x];
  o[0] = __reduce_add_sync(~0u, v) + __reduce_min_sync(~0u, v) + __reduce_max_sync(~0u, v);
  o[1] = __reduce_and_sync(~0u, v) + __reduce_or_sync(~0u, v) + __reduce_xor_sync(~0u, v);
  s[0] = __reduce_add_sync(~0u, s[1]) + __reduce_min_sync(~0u, s[2]) + __reduce_max_sync(~0u, s[3]);
}
#endif

extern "C" __global__ void tree(float *o, const float *p, int n) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += p[i];
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (!threadIdx.x) *o = sum;
  }
}

extern "C" __global__ void named(int *p) {
  asm volatile("barrier.sync 1, 64;" ::: "memory");
  asm volatile("bar.arrive 2, 128;" ::: "memory");
  asm volatile("bar.sync 2, 128;" ::: "memory");
  int r;
  asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.red.or.pred q, 3, 64, !p; selp.s32 %0, 1, 0, q; }" : "=r"(r) : "r"(p[0]));
  p[1] = r;
}
