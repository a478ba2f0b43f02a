// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// The parallel algorithms of CUB and Thrust's containers of tricks: large modules of one style.

#include <cub/cub.cuh>

template <class T, int Threads, int Items> __global__ void block(T *o, const T *p, int n) {
  using Load = cub::BlockLoad<T, Threads, Items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<T, Threads, Items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<T, Threads, cub::BLOCK_SCAN_RAKING>;
  using Reduce = cub::BlockReduce<T, Threads>;
  using Sort = cub::BlockRadixSort<T, Threads, Items>;
  using Order = cub::BlockMergeSort<T, Threads, Items>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    typename Sort::TempStorage sort;
    typename Order::TempStorage order;
  } s;
  T v[Items];
  Load(s.load).Load(p, v, n, T());
  __syncthreads();
  Sort(s.sort).Sort(v);
  __syncthreads();
  Scan(s.scan).InclusiveSum(v, v);
  __syncthreads();
  T sum = Reduce(s.reduce).Sum(v);
  __syncthreads();
  Order(s.order).Sort(v, [] __device__(const T &a, const T &b) { return a > b; });
  __syncthreads();
  if (!threadIdx.x) o[n] = sum;
  Store(s.store).Store(o, v, n);
}
template __global__ void block<int, 128, 4>(int *, const int *, int);
template __global__ void block<float, 256, 2>(float *, const float *, int);
template __global__ void block<unsigned long long, 64, 8>(unsigned long long *, const unsigned long long *, int);
template __global__ void block<double, 128, 3>(double *, const double *, int);

extern "C" __global__ void warp(int *o, const int *p) {
  __shared__ cub::WarpScan<int>::TempStorage scan[4];
  __shared__ cub::WarpReduce<int>::TempStorage reduce[4];
  __shared__ cub::WarpMergeSort<int, 4>::TempStorage sort[4];
  int w = threadIdx.x / 32, v[4];
  for (int i = 0; i < 4; i++) v[i] = p[threadIdx.x * 4 + i];
  cub::WarpMergeSort<int, 4>(sort[w]).Sort(v, [] __device__(int a, int b) { return a < b; });
  int total, mine = v[0];
  cub::WarpScan<int>(scan[w]).ExclusiveSum(mine, mine, total);
  o[threadIdx.x] = mine + cub::WarpReduce<int>(reduce[w]).Reduce(v[1], cuda::maximum<>{}) + total;
}

extern "C" __global__ void bins(unsigned *o, const unsigned char *p) {
  using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename Histogram::TempStorage s;
  __shared__ unsigned table[256];
  unsigned char v[4];
  cub::LoadDirectStriped<128>(threadIdx.x, p, v);
  Histogram(s).Histogram(v, table);
  __syncthreads();
  o[threadIdx.x] = table[threadIdx.x];
}
