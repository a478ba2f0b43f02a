// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithms of a warp with CUB, and algorithms of a grid in the style of CUB.

#include <cub/cub.cuh>
#include <cuda/atomic>

extern "C" __global__ void warp_scan(int *o, const int *p) {
  __shared__ cub::WarpScan<int>::TempStorage s[4];
  int v = p[threadIdx.x], in, ex, all;
  cub::WarpScan<int> scan(s[threadIdx.x / 32]);
  scan.Scan(v, in, ex, 7, cuda::std::plus<>{});
  scan.InclusiveScan(v, v, cuda::minimum<>{}, all);
  o[threadIdx.x] = in * 3 + ex * 5 + v * 7 + all;
}

extern "C" __global__ void warp_scan_narrow(unsigned *o, const unsigned *p) {
  __shared__ cub::WarpScan<unsigned, 12>::TempStorage s[8];
  unsigned lane = threadIdx.x % 32, v = p[threadIdx.x];
  if (lane < 24) cub::WarpScan<unsigned, 12>(s[threadIdx.x / 32 * 2 + lane / 12]).InclusiveSum(v, v);
  o[threadIdx.x] = v;
}

extern "C" __global__ void warp_reduce(int *o, const int *p, const int *flags) {
  __shared__ cub::WarpReduce<int>::TempStorage s[4];
  cub::WarpReduce<int> reduce(s[threadIdx.x / 32]);
  int v = p[threadIdx.x];
  int sum = reduce.HeadSegmentedSum(v, flags[threadIdx.x]);
  __syncwarp();
  int top = reduce.Reduce(v, cuda::maximum<>{}, 29);
  o[threadIdx.x] = flags[threadIdx.x] || threadIdx.x % 32 == 0 ? sum : 0;
  if (threadIdx.x % 32 == 0) o[blockDim.x + threadIdx.x / 32] = top;
}

extern "C" __global__ void warp_merge_sort(int *k, int *x, const int *p) {
  using Sort = cub::WarpMergeSort<int, 4, 32, int>;
  __shared__ Sort::TempStorage s[2];
  int v[4], at[4];
  for (int i = 0; i < 4; i++) at[i] = threadIdx.x * 4 + i, v[i] = p[at[i]];
  Sort(s[threadIdx.x / 32]).StableSort(v, at, [](int a, int b) { return a < b; });
  for (int i = 0; i < 4; i++) k[threadIdx.x * 4 + i] = v[i], x[threadIdx.x * 4 + i] = at[i];
}

extern "C" __global__ void warp_exchange(float *o, const float *p) {
  using Exchange = cub::WarpExchange<float, 4, 16>;
  __shared__ Exchange::TempStorage s[4];
  float v[4];
  for (int i = 0; i < 4; i++) v[i] = p[threadIdx.x * 4 + i];
  Exchange(s[threadIdx.x / 16]).BlockedToStriped(v, v);
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = v[i];
}

// A scan of a grid in one pass: each block publishes its sum, then its prefix, and looks back.
extern "C" __global__ void look_back(unsigned *o, const unsigned *p, unsigned long long *state, unsigned *ticket) {
  using Scan = cub::BlockScan<unsigned, 128>;
  __shared__ Scan::TempStorage s;
  __shared__ unsigned tile, before;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  unsigned i = tile * 128 + threadIdx.x, sum, v = p[i];
  Scan(s).InclusiveSum(v, v, sum);
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> mine(state[tile]);
    unsigned prefix = 0;
    if (tile > 0) {
      mine.store(1ull << 32 | sum, cuda::memory_order_release);
      for (int t = tile - 1; t >= 0;) {
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> other(state[t]);
        unsigned long long w = other.load(cuda::memory_order_acquire);
        if (w >> 32 == 0) continue;
        prefix += (unsigned)w;
        if (w >> 32 == 2) break;
        t--;
      }
    }
    mine.store(2ull << 32 | (prefix + sum), cuda::memory_order_release);
    before = prefix;
  }
  __syncthreads();
  o[i] = before + v;
}

// Keeps the elements that are divisible by three, in order within a block, blocks in any order.
extern "C" __global__ void select_if(int *o, unsigned *count, const int *p, int n) {
  using Scan = cub::BlockScan<int, 96>;
  __shared__ Scan::TempStorage s;
  __shared__ unsigned base;
  int i = blockIdx.x * 96 + threadIdx.x;
  int v = i < n ? p[i] : 1, keep = v % 3 == 0, at, all;
  Scan(s).ExclusiveSum(keep, at, all);
  if (threadIdx.x == 0) base = atomicAdd(count, (unsigned)all);
  __syncthreads();
  if (keep) o[base + at] = v;
}

// Run-length encoding by one block, tile after tile.
extern "C" __global__ void run_encode(int *values, int *lengths, int *runs, const int *p, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ Scan::TempStorage s;
  int found = 0;
  for (int base = 0; base < n; base += 128) {
    int i = base + threadIdx.x;
    int head = i < n && (i == 0 || p[i] != p[i - 1]), at, all;
    Scan(s).ExclusiveSum(head, at, all);
    if (head) {
      int end = i + 1;
      while (end < n && p[end] == p[i]) end++;
      values[found + at] = p[i];
      lengths[found + at] = end - i;
    }
    found += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) *runs = found;
}

// One pass of a radix sort by a digit of four bits, ranks by match.
extern "C" __global__ void radix_pass(unsigned *o, const unsigned *p, int shift) {
  __shared__ unsigned counts[16][8], starts[16][8];
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, v = p[threadIdx.x], digit = v >> shift & 15;
  for (unsigned i = threadIdx.x; i < 128; i += 256) counts[i / 8][i % 8] = 0;
  __syncthreads();
  unsigned same = __match_any_sync(~0u, digit), rank = __popc(same & ((1u << lane) - 1));
  if (rank == 0) counts[digit][warp] = __popc(same);
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned sum = 0, four[4];
    for (int i = 0; i < 4; i++) {
      unsigned cell = lane * 4 + i;
      four[i] = sum;
      sum += counts[cell / 8][cell % 8];
    }
    unsigned before = sum;
    for (int d = 1; d < 32; d *= 2) {
      unsigned t = __shfl_up_sync(~0u, before, d);
      if (lane >= d) before += t;
    }
    before -= sum;
    for (int i = 0; i < 4; i++) starts[(lane * 4 + i) / 8][(lane * 4 + i) % 8] = before + four[i];
  }
  __syncthreads();
  o[starts[digit][warp] + rank] = v;
}

extern "C" __global__ void thread_algorithms(int *o, const int *p) {
  int v[8];
  for (int i = 0; i < 8; i++) v[i] = p[threadIdx.x * 8 + i];
  int sum = cub::ThreadReduce(v, cuda::std::plus<>{});
  int top = cub::ThreadReduce(v, cuda::maximum<>{});
  o[threadIdx.x * 2] = sum;
  o[threadIdx.x * 2 + 1] = top;
}
