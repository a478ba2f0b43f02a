// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Cooperative groups.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int N> __device__ int tile(cg::thread_block block, int v) {
  auto t = cg::tiled_partition<N>(block);
  int sum = cg::reduce(t, v, cg::plus<int>());
  int top = cg::reduce(t, v, cg::greater<int>());
  int in = cg::inclusive_scan(t, v), ex = cg::exclusive_scan(t, v, cg::bit_xor<int>());
  return sum + 3 * top + 5 * in + 7 * ex + 11 * (int)t.meta_group_rank() + t.shfl_xor(v, N / 2);
}
extern "C" __global__ void tiles(int *o, const int *p) {
  cg::thread_block block = cg::this_thread_block();
  int v = p[block.thread_rank()];
  o[block.thread_rank()] = tile<32>(block, v) ^ tile<16>(block, v) ^ tile<8>(block, v) ^ tile<2>(block, v);
}

extern "C" __global__ void votes(unsigned *o, const int *p) {
  auto t = cg::tiled_partition<8>(cg::this_thread_block());
  int v = p[threadIdx.x];
  unsigned r = t.ballot(v > 0) | t.any(v > 90) << 8 | t.all(v > -90) << 9;
  r |= t.match_any(v & 3) << 10;
  o[threadIdx.x] = r;
}

extern "C" __global__ void coalesced(int *o, int *count, const int *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = p[i], r = -1;
  if (v % 3 != 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    int base = 0;
    if (g.thread_rank() == 0) base = atomicAdd(count, (int)g.size());
    base = g.shfl(base, 0);
    int sum = cg::reduce(g, v, cg::plus<int>()), in = cg::inclusive_scan(g, v);
    r = sum * 3 + in + (int)g.size() * 1000 + (base >= 0);
    if (v % 2 == 0) {
      cg::coalesced_group inner = cg::coalesced_threads();
      r += 100000 * (int)inner.thread_rank();
    }
  }
  o[i] = r;
}

extern "C" __global__ void partitions(int *o, const int *p) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = p[threadIdx.x];
  auto same = cg::labeled_partition(warp, v & 7);
  auto odd = cg::binary_partition(warp, v & 1);
  o[threadIdx.x] = same.size() + 64 * same.thread_rank() + 4096 * cg::reduce(odd, v, cg::plus<int>()) + odd.thread_rank();
}

extern "C" __global__ void big_tiles(int *o, const int *p) {
  __shared__ cg::block_tile_memory<256> memory;
  cg::thread_block block = cg::this_thread_block(memory);
  auto t = cg::tiled_partition<128>(block);
  int v = p[block.thread_rank()];
  int sum = cg::reduce(t, v, cg::plus<int>());
  int in = cg::inclusive_scan(t, v);
  t.sync();
  o[block.thread_rank()] = sum * 2 + in + t.shfl(v, 5) + t.any(v == 77);
}

extern "C" __global__ void staged(float *o, const float *p, int n) {
  __shared__ float stage[2][256];
  cg::thread_block block = cg::this_thread_block();
  float sum = 0;
  cg::memcpy_async(block, stage[0], p, sizeof stage[0]);
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) {
      cg::memcpy_async(block, stage[(i + 1) % 2], p + (i + 1) * 256, sizeof stage[0]);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    sum += stage[i % 2][255 - threadIdx.x];
    block.sync();
  }
  o[threadIdx.x] = sum;
}

// Jacobi steps, all blocks in step.
extern "C" __global__ void grid_sync(int *a, int *b, int n, int steps) {
  cg::grid_group g = cg::this_grid();
  for (int s = 0; s < steps; s++) {
    for (int i = g.thread_rank(); i < n; i += g.size())
      b[i] = a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n];
    g.sync();
    int *t = a;
    a = b;
    b = t;
  }
}

extern "C" __global__ void split_barrier(int *o, const int *p) {
  __shared__ int cells[128];
  cg::thread_block block = cg::this_thread_block();
  int i = threadIdx.x;
  cells[i] = p[i];
  auto token = block.barrier_arrive();
  int own = p[i] * 3;
  block.barrier_wait(cuda::std::move(token));
  o[i] = own + cells[127 - i];
}

extern "C" __global__ void invoke(int *o, const int *p) {
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  int v = p[threadIdx.x];
  int first = cg::invoke_one_broadcast(t, [&] { return 41; });
  o[threadIdx.x] = v + first;
}

#if __CUDA_ARCH__ >= 900
// A histogram spread over the blocks of a cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(unsigned *o, const unsigned *p, int n) {
  __shared__ unsigned bins[64];
  cg::cluster_group c = cg::this_cluster();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  c.sync();
  for (int i = c.thread_rank(); i < n; i += c.num_threads()) {
    unsigned bin = p[i] & 255;
    atomicAdd(c.map_shared_rank(&bins[bin & 63], bin >> 6), 1u);
  }
  c.sync();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) o[c.block_rank() * 64 + i] = bins[i];
}

// A ring: each block reads the next one's memory, twice.
extern "C" __global__ void cluster_ring(int *o, const int *p) {
  __shared__ int cells[2][64];
  cg::cluster_group c = cg::this_cluster();
  unsigned rank = c.block_rank(), next = (rank + 1) % c.num_blocks();
  int i = blockIdx.x * 64 + threadIdx.x;
  cells[0][threadIdx.x] = p[i];
  c.sync();
  cells[1][threadIdx.x] = c.map_shared_rank(cells[0], next)[63 - threadIdx.x] * 2 + rank;
  auto token = c.barrier_arrive();
  c.barrier_wait(cuda::std::move(token));
  int *far = c.map_shared_rank(cells[1], next);
  o[i] = far[threadIdx.x] + (int)c.query_shared_rank(far) * 1000 + c.num_blocks() * 100000;
  c.sync();
}

// A sum over a cluster: block 0 gathers.
extern "C" __global__ void __cluster_dims__(2, 2, 1) cluster_sum(long long *o, const int *p) {
  __shared__ long long part;
  cg::cluster_group c = cg::this_cluster();
  cg::thread_block block = cg::this_thread_block();
  auto t = cg::tiled_partition<32>(block);
  if (threadIdx.x == 0) part = 0;
  block.sync();
  unsigned b = blockIdx.y * gridDim.x + blockIdx.x;
  long long v = cg::reduce(t, (long long)p[b * 96 + threadIdx.x], cg::plus<long long>());
  if (t.thread_rank() == 0) atomicAdd((unsigned long long *)&part, (unsigned long long)v);
  c.sync();
  if (c.block_rank() == 0 && threadIdx.x == 0) {
    long long sum = 0;
    for (unsigned r = 0; r < c.num_blocks(); r++) sum += *c.map_shared_rank(&part, r);
    o[blockIdx.y / 2 * (gridDim.x / 2) + blockIdx.x / 2] = sum;
  }
  c.sync();
}
#endif
