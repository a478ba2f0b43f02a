// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Pipelines, barriers and other means of synchronization of libcu++.

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

namespace cg = cooperative_groups;

// Sums of windows of nine, tiles fetched four ahead by a pipeline of the block.
extern "C" __global__ void pipeline_block(int *o, const int *p, int tiles) {
  constexpr int stages = 4;
  __shared__ int buffer[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int fetched = 0;
  for (int t = 0; t < tiles; t++) {
    for (; fetched < tiles && fetched < t + stages; fetched++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], p + fetched * 128, sizeof buffer[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    int sum = 0;
    for (int k = 0; k < 9; k++) sum += buffer[t % stages][(threadIdx.x + k) % 128];
    o[t * 128 + threadIdx.x] = sum;
    pipe.consumer_release();
  }
}

// Producers in warp 0, consumers in the others.
extern "C" __global__ void pipeline_roles(int *o, const int *p, int tiles) {
  __shared__ int buffer[2][96];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (role == cuda::pipeline_role::producer) {
    for (int t = 0; t < tiles; t++) {
      pipe.producer_acquire();
      for (int k = 0; k < 3; k++) {
        int i = threadIdx.x + k * 32;
        cuda::memcpy_async(&buffer[t % 2][i], p + t * 96 + i, sizeof(int), pipe);
      }
      pipe.producer_commit();
    }
  } else {
    for (int t = 0; t < tiles; t++) {
      pipe.consumer_wait();
      int i = threadIdx.x - 32;
      o[t * 96 + i] = buffer[t % 2][95 - i] * 3 + t;
      pipe.consumer_release();
    }
  }
}

// A pipeline of each thread by itself.
extern "C" __global__ void pipeline_thread(float *o, const float4 *p, int n) {
  __shared__ float4 buffer[3][64];
  auto pipe = cuda::make_pipeline();
  int fetched = 0;
  float sum = 0;
  for (int t = 0; t < n; t++) {
    for (; fetched < n && fetched < t + 3; fetched++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&buffer[fetched % 3][threadIdx.x], p + fetched * 64 + threadIdx.x,
                         cuda::aligned_size_t<16>(16), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    float4 v = buffer[t % 3][threadIdx.x];
    sum += v.x * v.y - v.z * v.w;
    pipe.consumer_release();
  }
  o[threadIdx.x] = sum;
}

extern "C" __global__ void barrier_copy(double *o, const double *p, int rounds) {
  __shared__ double cells[64];
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier full, empty;
  if (threadIdx.x == 0) init(&full, 64), init(&empty, 64);
  __syncthreads();
  double sum = 0;
  for (int r = 0; r < rounds; r++) {
    cuda::memcpy_async(&cells[threadIdx.x], p + r * 64 + threadIdx.x, cuda::aligned_size_t<8>(8), full);
    full.arrive_and_wait();
    sum += cells[(threadIdx.x + 13) % 64];
    empty.wait(empty.arrive());
  }
  o[threadIdx.x] = sum;
}

// Half of the threads leave a barrier early.
extern "C" __global__ void barrier_drop(int *o, const int *p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ int sum;
  if (threadIdx.x == 0) init(&b, blockDim.x), sum = 0;
  __syncthreads();
  atomicAdd(&sum, p[threadIdx.x]);
  if (threadIdx.x % 2) {
    b.arrive_and_drop();
    o[threadIdx.x] = 0;
    return;
  }
  b.arrive_and_wait();
  int first = sum;
  b.arrive_and_wait();
  if (threadIdx.x == 2) sum = 5;
  b.arrive_and_wait();
  o[threadIdx.x] = first + sum;
}

struct Then {
  int *target;
  __device__ void operator()() noexcept { *target += 1000; }
};
extern "C" __global__ void barrier_completion(int *o, const int *p) {
  using barrier = cuda::barrier<cuda::thread_scope_block, Then>;
  __shared__ alignas(barrier) char memory[sizeof(barrier)];
  __shared__ int sum;
  barrier *b = (barrier *)memory;
  if (threadIdx.x == 0) sum = 0, new (b) barrier(blockDim.x, Then{&sum});
  __syncthreads();
  for (int r = 0; r < 3; r++) {
    atomicAdd(&sum, p[r * blockDim.x + threadIdx.x]);
    b->arrive_and_wait();
  }
  o[threadIdx.x] = sum;
}

extern "C" __global__ void latch_once(int *o, const int *p, cuda::latch<cuda::thread_scope_device> *l) {
  __shared__ cuda::latch<cuda::thread_scope_block> *mine;
  __shared__ alignas(8) char memory[sizeof(cuda::latch<cuda::thread_scope_block>)];
  __shared__ int cells[64];
  if (threadIdx.x == 0) mine = new (memory) cuda::latch<cuda::thread_scope_block>(64);
  __syncthreads();
  cells[threadIdx.x] = p[threadIdx.x];
  mine->arrive_and_wait();
  o[threadIdx.x] = cells[threadIdx.x ^ 1];
}

extern "C" __global__ void semaphore_lock(int *o, int rounds) {
  __shared__ alignas(8) char memory[sizeof(cuda::binary_semaphore<cuda::thread_scope_block>)];
  auto s = (cuda::binary_semaphore<cuda::thread_scope_block> *)memory;
  __shared__ volatile int sum;
  if (threadIdx.x == 0) new (s) cuda::binary_semaphore<cuda::thread_scope_block>(1), sum = 0;
  __syncthreads();
  if (threadIdx.x % 16 == 0) {
    for (int r = 0; r < rounds; r++) {
      s->acquire();
      sum = sum + 1 + threadIdx.x;
      s->release();
    }
  }
  __syncthreads();
  o[threadIdx.x] = sum;
}

// A message from block 0 to all others, over global memory.
extern "C" __global__ void message(int *o, int *box, unsigned *flag) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    box[threadIdx.x] = threadIdx.x * 17;
    __syncthreads();
    if (threadIdx.x == 0) {
      ready.store(1, cuda::memory_order_release);
      ready.notify_all();
    }
  } else {
    if (threadIdx.x == 0) ready.wait(0, cuda::memory_order_acquire);
    __syncthreads();
  }
  o[blockIdx.x * blockDim.x + threadIdx.x] = box[blockDim.x - 1 - threadIdx.x] + blockIdx.x;
}
