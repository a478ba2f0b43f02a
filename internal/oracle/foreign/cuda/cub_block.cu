// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithms of a block with CUB.

#include <cub/cub.cuh>

template <cub::BlockScanAlgorithm A> __device__ void scan(int *o, const int *p) {
  using Scan = cub::BlockScan<int, 128, A>;
  __shared__ typename Scan::TempStorage s;
  int v[4], base = (blockIdx.x * 128 + threadIdx.x) * 4;
  for (int i = 0; i < 4; i++) v[i] = p[base + i];
  Scan(s).InclusiveSum(v, v);
  for (int i = 0; i < 4; i++) o[base + i] = v[i];
}
extern "C" __global__ void scan_raking(int *o, const int *p) { scan<cub::BLOCK_SCAN_RAKING>(o, p); }
extern "C" __global__ void scan_memoize(int *o, const int *p) { scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>(o, p); }
extern "C" __global__ void scan_warps(int *o, const int *p) { scan<cub::BLOCK_SCAN_WARP_SCANS>(o, p); }

// An exclusive scan with a prefix that is carried from tile to tile.
struct Carry {
  long long sum;
  __device__ long long operator()(long long tile) {
    long long before = sum;
    sum += tile;
    return before;
  }
};
extern "C" __global__ void scan_carry(long long *o, const int *p, int n) {
  using Scan = cub::BlockScan<long long, 64>;
  __shared__ Scan::TempStorage s;
  Carry carry{1000};
  for (int base = 0; base < n; base += 64) {
    int i = base + threadIdx.x;
    long long v = i < n ? p[i] : 0;
    Scan(s).ExclusiveScan(v, v, cuda::std::plus<>{}, carry);
    __syncthreads();
    if (i < n) o[i] = v;
  }
}

extern "C" __global__ void scan_max(float *o, const float *p) {
  using Scan = cub::BlockScan<float, 96>;
  __shared__ Scan::TempStorage s;
  float v = p[blockIdx.x * 96 + threadIdx.x], all;
  Scan(s).ExclusiveScan(v, v, -100.0f, cuda::maximum<>{}, all);
  o[blockIdx.x * 97 + threadIdx.x] = v;
  if (threadIdx.x == 0) o[blockIdx.x * 97 + 96] = all;
}

template <cub::BlockReduceAlgorithm A> __device__ void reduce(double *o, const double *p, int n) {
  using Reduce = cub::BlockReduce<double, 160, A>;
  __shared__ typename Reduce::TempStorage s;
  double v = 0;
  for (int i = blockIdx.x * 160 + threadIdx.x; i < n; i += gridDim.x * 160) v += p[i] * p[i];
  double sum = Reduce(s).Sum(v);
  __syncthreads();
  double top = Reduce(s).Reduce(v, cuda::maximum<>{}, 100 + blockIdx.x);
  if (threadIdx.x == 0) o[2 * blockIdx.x] = sum, o[2 * blockIdx.x + 1] = top;
}
extern "C" __global__ void reduce_raking(double *o, const double *p, int n) {
  reduce<cub::BLOCK_REDUCE_RAKING>(o, p, n);
}
extern "C" __global__ void reduce_warps(double *o, const double *p, int n) {
  reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(o, p, n);
}

struct Pair {
  float value;
  int index;
};
extern "C" __global__ void arg_min(int *o, const float *p) {
  using Reduce = cub::BlockReduce<Pair, 128>;
  __shared__ Reduce::TempStorage s;
  int i = blockIdx.x * 128 + threadIdx.x;
  auto least = [](Pair a, Pair b) { return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a; };
  Pair best = Reduce(s).Reduce(Pair{p[i], i}, least);
  if (threadIdx.x == 0) o[blockIdx.x] = best.index;
}

extern "C" __global__ void radix_keys(unsigned *o, const unsigned *p) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
  __shared__ Sort::TempStorage s;
  unsigned v[4];
  cub::LoadDirectBlocked(threadIdx.x, p + blockIdx.x * 512, v);
  Sort(s).Sort(v);
  cub::StoreDirectBlocked(threadIdx.x, o + blockIdx.x * 512, v);
}

extern "C" __global__ void radix_pairs(float *k, int *x, const float *p) {
  using Sort = cub::BlockRadixSort<float, 64, 3, int>;
  __shared__ Sort::TempStorage s;
  float v[3];
  int at[3];
  for (int i = 0; i < 3; i++) v[i] = p[threadIdx.x * 3 + i], at[i] = threadIdx.x * 3 + i;
  Sort(s).SortDescendingBlockedToStriped(v, at);
  cub::StoreDirectStriped<64>(threadIdx.x, k, v);
  cub::StoreDirectStriped<64>(threadIdx.x, x, at);
}

extern "C" __global__ void radix_part(unsigned long long *o, const unsigned long long *p) {
  using Sort = cub::BlockRadixSort<unsigned long long, 64, 2, cub::NullType, 5>;
  __shared__ Sort::TempStorage s;
  unsigned long long v[2];
  cub::LoadDirectBlockedVectorized(threadIdx.x, (unsigned long long *)p, v);
  Sort(s).Sort(v, 9, 27);
  cub::StoreDirectBlocked(threadIdx.x, o, v);
}

extern "C" __global__ void merge_sort(int *o, const int *p, int n) {
  using Sort = cub::BlockMergeSort<int, 128, 3>;
  __shared__ Sort::TempStorage s;
  int v[3];
  for (int i = 0; i < 3; i++) v[i] = threadIdx.x * 3 + i < n ? p[threadIdx.x * 3 + i] : 0;
  Sort(s).Sort(v, [](int a, int b) { return a > b; }, n, -2147483647 - 1);
  for (int i = 0; i < 3; i++)
    if (threadIdx.x * 3 + i < n) o[threadIdx.x * 3 + i] = v[i];
}

template <cub::BlockHistogramAlgorithm A> __device__ void bins(unsigned *o, const unsigned char *p) {
  using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256, A>;
  __shared__ typename Histogram::TempStorage s;
  __shared__ unsigned table[256];
  unsigned char v[4];
  cub::LoadDirectStriped<128>(threadIdx.x, p + blockIdx.x * 512, v);
  Histogram(s).Histogram(v, table);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) o[blockIdx.x * 256 + i] = table[i];
}
extern "C" __global__ void histogram_atomic(unsigned *o, const unsigned char *p) { bins<cub::BLOCK_HISTO_ATOMIC>(o, p); }
extern "C" __global__ void histogram_sort(unsigned *o, const unsigned char *p) { bins<cub::BLOCK_HISTO_SORT>(o, p); }

extern "C" __global__ void heads_tails(int *o, const int *p) {
  using Flag = cub::BlockDiscontinuity<int, 128>;
  __shared__ Flag::TempStorage s;
  int v[2] = {p[threadIdx.x * 2], p[threadIdx.x * 2 + 1]}, head[2], tail[2];
  Flag(s).FlagHeadsAndTails(head, tail, v, cuda::std::not_equal_to<>{});
  for (int i = 0; i < 2; i++) o[threadIdx.x * 2 + i] = head[i] + 2 * tail[i];
}

extern "C" __global__ void difference(int *o, const int *p) {
  using Difference = cub::BlockAdjacentDifference<int, 64>;
  __shared__ Difference::TempStorage s;
  int v[4];
  for (int i = 0; i < 4; i++) v[i] = p[threadIdx.x * 4 + i];
  Difference(s).SubtractLeft(v, v, [](int a, int b) { return a - 3 * b; });
  for (int i = 0; i < 4; i++) o[threadIdx.x * 4 + i] = v[i];
}

extern "C" __global__ void exchange(short *o, const short *p) {
  using Exchange = cub::BlockExchange<short, 96, 5>;
  __shared__ Exchange::TempStorage s;
  short v[5];
  for (int i = 0; i < 5; i++) v[i] = p[threadIdx.x * 5 + i];
  Exchange(s).BlockedToWarpStriped(v, v);
  for (int i = 0; i < 5; i++) o[threadIdx.x * 5 + i] = v[i];
}

extern "C" __global__ void load_store(double *o, const double *p, int n) {
  using Load = cub::BlockLoad<double, 64, 5, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<double, 64, 5, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    Load::TempStorage load;
    Store::TempStorage store;
  } s;
  double v[5];
  Load(s.load).Load(p, v, n, 0.5);
  __syncthreads();
  for (int i = 0; i < 5; i++) v[i] = v[i] * 2 + i;
  Store(s.store).Store(o, v, n);
}

extern "C" __global__ void run_decode(int *o, const int *values, const unsigned *lengths) {
  using Decode = cub::BlockRunLengthDecode<int, 32, 2, 8>;
  __shared__ Decode::TempStorage s;
  int v[2] = {values[threadIdx.x * 2], values[threadIdx.x * 2 + 1]};
  unsigned n[2] = {lengths[threadIdx.x * 2], lengths[threadIdx.x * 2 + 1]}, total = 0;
  Decode decode(s, v, n, total);
  for (unsigned from = 0; from < total; from += 32 * 8) {
    int out[8];
    decode.RunLengthDecode(out, from);
    for (int i = 0; i < 8; i++)
      if (from + threadIdx.x * 8 + i < total) o[from + threadIdx.x * 8 + i] = out[i];
  }
}
