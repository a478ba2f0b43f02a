// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Cooperative groups.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int N> __device__ float tile(cg::thread_block block, float v) {
  auto t = cg::tiled_partition<N>(block);
  v += t.shfl_down(v, N / 2) + t.shfl_xor(v, 1);
  v += cg::reduce(t, v, cg::plus<float>()) + cg::inclusive_scan(t, v);
  if (t.any(v > 3) && t.all(v < 9)) v += t.ballot(v > 5);
  t.sync();
  return v + t.meta_group_rank();
}

extern "C" __global__ void tiles(float *p) {
  cg::thread_block block = cg::this_thread_block();
  float v = p[block.thread_rank()];
  v += tile<32>(block, v) + tile<16>(block, v) + tile<4>(block, v);
  p[block.thread_rank()] = v;
}

extern "C" __global__ void coalesced(int *p, int n) {
  int i = threadIdx.x;
  if (p[i] > 3) {
    cg::coalesced_group g = cg::coalesced_threads();
    int sum = cg::reduce(g, p[i], cg::greater<int>());
    int before = cg::exclusive_scan(g, p[i]);
    if (g.thread_rank() == 0) atomicAdd(&p[n], sum + before);
    auto label = cg::labeled_partition(g, p[i] & 3);
    p[i] = label.size() + label.thread_rank();
    auto two = cg::binary_partition(g, p[i] & 1);
    p[i] += two.size();
  }
}

extern "C" __global__ void copy(float *o, const float *p) {
  __shared__ float stage[256];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, stage, p, sizeof stage);
  cg::wait(block);
  o[threadIdx.x] = stage[255 - threadIdx.x];
}

extern "C" __global__ void grid(int *p) {
  cg::grid_group g = cg::this_grid();
  p[g.thread_rank()] = 1;
  g.sync();
  p[g.thread_rank() + 1] += p[g.thread_rank()];
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(int *p) {
  __shared__ int cell[32];
  cg::cluster_group c = cg::this_cluster();
  cell[threadIdx.x & 31] = p[threadIdx.x];
  c.sync();
  int *other = c.map_shared_rank(cell, c.block_rank() ^ 1);
  p[threadIdx.x] = other[threadIdx.x & 31] + c.num_blocks() + c.query_shared_rank(other);
  auto token = c.barrier_arrive();
  c.barrier_wait(cuda::std::move(token));
}
#endif
