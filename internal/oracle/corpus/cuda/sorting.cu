// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Device-wide algorithms: every kernel that Thrust and CUB launch for them.

#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

struct Twist {
  __host__ __device__ float operator()(float a, float b) const { return a * b - a; }
};
struct Even {
  __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};

void host(int *keys, float *values, long long *big, int n) {
  thrust::sort_by_key(thrust::device, keys, keys + n, values);
  thrust::sort(thrust::device, big, big + n, thrust::greater<long long>());
  thrust::inclusive_scan(thrust::device, values, values + n, values);
  thrust::exclusive_scan(thrust::device, big, big + n, big);
  thrust::transform(thrust::device, values, values + n, values, values, Twist());
  thrust::unique(thrust::device, keys, keys + n);
  thrust::remove_if(thrust::device, keys, keys + n, Even());
  values[0] = thrust::reduce(thrust::device, values, values + n, 0.0f, thrust::maximum<float>());
  keys[0] = thrust::count_if(thrust::device, keys, keys + n, Even());
}
