// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Asynchronous copies: pipelines, barriers, memcpy_async, cp.async inline.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

extern "C" __global__ void primitives(float4 *o, const float4 *p) {
  __shared__ float4 stage[4][128];
  for (int s = 0; s < 3; s++) {
    __pipeline_memcpy_async(&stage[s][threadIdx.x], p + s * 128 + threadIdx.x, 16);
    __pipeline_commit();
  }
  for (int s = 0; s < 16; s++) {
    __pipeline_wait_prior(2);
    __syncthreads();
    o[s * 128 + threadIdx.x] = stage[s & 3][127 - threadIdx.x];
    __pipeline_memcpy_async(&stage[s + 3 & 3][threadIdx.x], p + (s + 3) * 128 + threadIdx.x, 16, 4);
    __pipeline_commit();
  }
}

template <int Stages> __global__ void pipelined(int *o, const int *p, int n) {
  __shared__ int stage[Stages][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int head = 0, tail = 0; tail < n; tail++) {
    for (; head < n && head < tail + Stages; head++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[head % Stages], p + head * 256, cuda::aligned_size_t<16>(1024), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    o[tail * 256 + threadIdx.x] = stage[tail % Stages][255 - threadIdx.x];
    pipe.consumer_release();
  }
}
template __global__ void pipelined<2>(int *, const int *, int);
template __global__ void pipelined<4>(int *, const int *, int);

extern "C" __global__ void alone(int *o, const int *p) {
  __shared__ int stage[2][64];
  auto pipe = cuda::make_pipeline();
  for (int i = 0; i < 8; i++) {
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[i & 1][threadIdx.x], p + i * 64 + threadIdx.x, sizeof(int), pipe);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    o[i] += stage[i & 1][threadIdx.x];
    pipe.consumer_release();
  }
}

#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void barriers(int *o, const int *p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready[2];
  __shared__ int cell[2][128];
  if (threadIdx.x < 2) init(&ready[threadIdx.x], blockDim.x);
  __syncthreads();
  for (int i = 0; i < 10; i++) {
    auto token = ready[i & 1].arrive();
    cuda::memcpy_async(&cell[i & 1][threadIdx.x], p + i * 128 + threadIdx.x, sizeof(int), ready[i & 1]);
    ready[i & 1].wait(cuda::std::move(token));
    ready[i & 1].arrive_and_wait();
    o[i * 128 + threadIdx.x] = cell[i & 1][127 - threadIdx.x];
  }
  if (threadIdx.x == 3) ready[0].arrive_and_drop();
}

extern "C" __global__ void inlined(int *o, const int *p, unsigned long long policy) {
  __shared__ __align__(128) int s[512];
  unsigned to = (unsigned)__cvta_generic_to_shared(s) + threadIdx.x * 16;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(p) : "memory");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(p), "r"(o[0]) : "memory");
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(p), "l"(policy) : "memory");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], 8; }" ::"r"(to), "l"(p), "r"(o[1]) : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  o[threadIdx.x] = s[threadIdx.x];
}
