// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of the first examples as one would write them in CUDA C++, with the same work for each thread: what nvcc makes of them stands beside
// what ptxas makes of ours in bench/results/sass.md.

#include <cooperative_groups.h>
#include <cuda_bf16.h>

namespace cg = cooperative_groups;

extern "C" __global__ __launch_bounds__(256) void vecadd(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, unsigned n) {
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ __launch_bounds__(256) void saxpy(const float4 *__restrict__ x, float4 *y, float a, unsigned n) {
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
    float4 u = x[i], v = y[i];
    v.x = fmaf(a, u.x, v.x), v.y = fmaf(a, u.y, v.y), v.z = fmaf(a, u.z, v.z), v.w = fmaf(a, u.w, v.w);
    y[i] = v;
  }
}

template <int pitch, bool swizzle>
__device__ void transpose(const float *__restrict__ x, float *__restrict__ y, unsigned rows, unsigned cols) {
  __shared__ float t[32][pitch];
  unsigned left = blockIdx.x * 32, top = blockIdx.y * 32, tx = threadIdx.x, ty = threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) t[ty + j][swizzle ? tx ^ (ty + j) : tx] = x[(top + ty + j) * cols + left + tx];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 32; j += 8) y[(left + ty + j) * rows + top + tx] = t[tx][swizzle ? (ty + j) ^ tx : ty + j];
}
extern "C" __global__ __launch_bounds__(256) void transpose_padded(const float *__restrict__ x, float *__restrict__ y, unsigned rows, unsigned cols) {
  transpose<33, false>(x, y, rows, cols);
}
extern "C" __global__ __launch_bounds__(256) void transpose_swizzled(const float *__restrict__ x, float *__restrict__ y, unsigned rows, unsigned cols) {
  transpose<32, true>(x, y, rows, cols);
}

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// The sum, or the largest, of a block in every thread.
template <int warps, class F> __device__ float block_reduce(float v, float *parts, F f) {
  for (int m = 16; m; m /= 2) v = f(v, __shfl_xor_sync(~0u, v, m));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = parts[threadIdx.x % warps];
  for (int m = warps / 2; m; m /= 2) v = f(v, __shfl_xor_sync(~0u, v, m));
  return v;
}

extern "C" __global__ __launch_bounds__(256) void reduce(const float *__restrict__ x, float *sum, unsigned n) {
  __shared__ float parts[8];
  float total = 0;
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) total += x[i];
  total = block_reduce<8>(total, parts, Add());
  if (threadIdx.x == 0) atomicAdd(sum, total);
}

__device__ unsigned scan_warp(unsigned v) {
#pragma unroll
  for (int n = 1; n < 32; n *= 2) {
    unsigned below = __shfl_up_sync(~0u, v, n);
    if (threadIdx.x % 32 >= n) v += below;
  }
  return v;
}
extern "C" __global__ __launch_bounds__(256) void scan(const unsigned *__restrict__ x, unsigned *__restrict__ y) {
  __shared__ unsigned sums[8];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 256 + threadIdx.x;
  unsigned v = scan_warp(x[i]);
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    unsigned s = scan_warp(lane < 8 ? sums[lane] : 0);
    if (lane < 8) sums[lane] = s;
  }
  __syncthreads();
  if (warp > 0) v += sums[warp - 1];
  y[i] = v;
}

extern "C" __global__ __launch_bounds__(256) void histogram(const unsigned char *__restrict__ data, unsigned *counts, unsigned n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ __launch_bounds__(128) void softmax_f32_4096(const float4 *__restrict__ x, float4 *__restrict__ y) {
  __shared__ float maxima[4], sums[4];
  const float log2e = 1.4426950408889634f;
  x += blockIdx.x * 1024ull, y += blockIdx.x * 1024ull;
  float4 v[8];
  float most = -INFINITY, sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) v[i] = x[threadIdx.x + 128 * i];
#pragma unroll
  for (int i = 0; i < 8; i++) most = fmaxf(fmaxf(fmaxf(fmaxf(most, v[i].x), v[i].y), v[i].z), v[i].w);
  most = block_reduce<4>(most, maxima, Max());
  float scaled = -most * log2e;
  auto power = [&](float a) { float p; asm("ex2.approx.f32 %0, %1;" : "=f"(p) : "f"(fmaf(a, log2e, scaled))); return p; };
#pragma unroll
  for (int i = 0; i < 8; i++) sum += power(v[i].x), sum += power(v[i].y), sum += power(v[i].z), sum += power(v[i].w);
  float part = 1 / block_reduce<4>(sum, sums, Add());
#pragma unroll
  for (int i = 0; i < 8; i++) y[threadIdx.x + 128 * i] = make_float4(power(v[i].x) * part, power(v[i].y) * part, power(v[i].z) * part, power(v[i].w) * part);
}

extern "C" __global__ __launch_bounds__(128) void rmsnorm_bf16_4096(const uint4 *__restrict__ x, const uint4 *__restrict__ w, uint4 *__restrict__ y, unsigned rows, float eps) {
  __shared__ float parts[4];
  unsigned row = min(blockIdx.x, rows - 1);
  x += row * 512ull, y += row * 512ull;
  uint4 v[4], u[4];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) v[i] = x[threadIdx.x + 128 * i];
#pragma unroll
  for (int i = 0; i < 4; i++) u[i] = w[threadIdx.x + 128 * i];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float2 f = __bfloat1622float2(reinterpret_cast<__nv_bfloat162 *>(&v[i])[j]);
      sum = fmaf(f.x, f.x, sum), sum = fmaf(f.y, f.y, sum);
    }
  for (int m = 16; m; m /= 2) sum += __shfl_xor_sync(~0u, sum, m);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = parts[0] + parts[1] + parts[2] + parts[3];
  float scale = rsqrtf(fmaf(sum, 1.0f / 4096, eps));
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint4 out;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float2 a = __bfloat1622float2(reinterpret_cast<__nv_bfloat162 *>(&v[i])[j]), b = __bfloat1622float2(reinterpret_cast<__nv_bfloat162 *>(&u[i])[j]);
      reinterpret_cast<__nv_bfloat162 *>(&out)[j] = __floats2bfloat162_rn(a.x * scale * b.x, a.y * scale * b.y);
    }
    y[threadIdx.x + 128 * i] = out;
  }
}

extern "C" __global__ __launch_bounds__(256) void matmul_simt(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ d, unsigned n, unsigned k) {
  __shared__ __align__(16) float as[8][132], bs[8][128];
  unsigned t = threadIdx.x, top = blockIdx.y * 128, left = blockIdx.x * 128;
  unsigned row = t / 16 * 8, col = t % 16 * 8, lr = t / 2, lc = t % 2 * 4, ld = t / 32, la = t % 32 * 4;
  float s[8][8] = {};
  for (unsigned at = 0; at < k; at += 8) {
    float4 va = *(const float4 *)&a[(top + lr) * k + at + lc], vb = *(const float4 *)&b[(at + ld) * n + left + la];
    __syncthreads();
    as[lc][lr] = va.x, as[lc + 1][lr] = va.y, as[lc + 2][lr] = va.z, as[lc + 3][lr] = va.w;
    *(float4 *)&bs[ld][la] = vb;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 8; p++) {
      float x[8], y[8];
      *(float4 *)x = *(float4 *)&as[p][row], *(float4 *)(x + 4) = *(float4 *)&as[p][row + 4];
      *(float4 *)y = *(float4 *)&bs[p][col], *(float4 *)(y + 4) = *(float4 *)&bs[p][col + 4];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) s[i][j] = fmaf(x[i], y[j], s[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float *o = &d[(top + row + i) * n + left + col];
    *(float4 *)o = *(float4 *)s[i], *(float4 *)(o + 4) = *(float4 *)(s[i] + 4);
  }
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ __cluster_dims__(4) __launch_bounds__(256) void sum_rows(const float *__restrict__ x, float *__restrict__ sums, unsigned n) {
  __shared__ float parts[8], own;
  cudaTriggerProgrammaticLaunchCompletion();
  cg::cluster_group cluster = cg::this_cluster();
  unsigned row = blockIdx.x / 4, first = cluster.block_rank() * 256 + threadIdx.x;
  x += (unsigned long long)row * n;
  float total = 0;
  for (unsigned i = first; i < n; i += 1024) total += x[i];
  float block = block_reduce<8>(total, parts, Add());
  if (threadIdx.x == 0) own = block;
  cluster.sync();
  float sum = 0;
  for (int r = 0; r < 4; r++) sum += *cluster.map_shared_rank(&own, r);
  cluster.sync();
  if (first == 0) sums[row] = sum;
}

extern "C" __global__ __launch_bounds__(256) void scale_rows(const float *__restrict__ x, const float *sums, float *__restrict__ y, unsigned n) {
  x += (unsigned long long)blockIdx.x * n, y += (unsigned long long)blockIdx.x * n;
  float next = threadIdx.x < n ? x[threadIdx.x] : 0;
  cudaGridDependencySynchronize();
  float factor = 1 / *(volatile const float *)(sums + blockIdx.x);
  for (unsigned i = threadIdx.x; i < n; i += 256) {
    y[i] = next * factor;
    if (i + 256 < n) next = x[i + 256];
  }
}
#endif

// A product of BF16 with mma.sync: tiles of 128x256, 64 deep, in two stages.
constexpr unsigned M = 128, N = 256, K = 64, stage_bytes = (M + N) * K * 2;

__device__ void copy_tile(unsigned to, const __nv_bfloat16 *from, unsigned rows, unsigned width, unsigned at, unsigned height) {
  unsigned unit = threadIdx.x % 8, row = threadIdx.x / 8;
  unsigned left = width > at + unit * 8 ? min(16u, (width - at - unit * 8) * 2) : 0;
#pragma unroll
  for (unsigned r = 0; r < height; r += 32) {
    unsigned line = row + r, bytes = line < rows ? left : 0;
    const __nv_bfloat16 *source = bytes ? from + (unsigned long long)line * width + at + unit * 8 : from;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + line * 128 + ((unit ^ line % 8) * 16)), "l"(source), "r"(bytes));
  }
}

__device__ void load_matrices(unsigned (&r)[4], unsigned tile, unsigned row, unsigned unit) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tile + row * 128 + ((unit ^ row % 8) * 16)));
}

extern "C" __global__ __launch_bounds__(256) void matmul_v0(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, __nv_bfloat16 *__restrict__ d,
                                                           unsigned m, unsigned n, unsigned k) {
  extern __shared__ __align__(1024) char shared[];
  unsigned store = (unsigned)__cvta_generic_to_shared(shared), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned down = (m + M - 1) / M, across = (n + N - 1) / N, group = blockIdx.x / (8 * across), base = group * 8;
  unsigned high = min(down - base, 8u), in = blockIdx.x - group * 8 * across, col = in / high, row = base + in - col * high;
  row *= M, col *= N;
  a += (unsigned long long)row * k, b += (unsigned long long)col * k;
  unsigned rows = m - row, cols = n - col, steps = (k + K - 1) / K;
  auto load = [&](unsigned step) {
    unsigned at = store + step % 2 * stage_bytes;
    copy_tile(at, a, rows, k, step * K, M);
    copy_tile(at + M * K * 2, b, cols, k, step * K, N);
  };
  float sums[4][8][4] = {};
  unsigned from_a = warp / 4 * 64, from_b = warp % 4 * 64;
  if (steps > 0) load(0);
  asm volatile("cp.async.commit_group;");
  for (unsigned step = 0; step < steps; step++) {
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    if (step + 1 < steps) load(step + 1);
    asm volatile("cp.async.commit_group;");
    unsigned at = store + step % 2 * stage_bytes;
#pragma unroll
    for (int part = 0; part < 4; part++) {
      unsigned fa[4][4], fb[4][4];
#pragma unroll
      for (int i = 0; i < 4; i++) load_matrices(fa[i], at, from_a + i * 16 + lane % 16, part * 2 + lane / 16);
#pragma unroll
      for (int j = 0; j < 4; j++) load_matrices(fb[j], at + M * K * 2, from_b + j * 16 + lane % 8 + lane / 16 * 8, part * 2 + lane / 8 % 2);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j / 2][j % 2 * 2]), "r"(fb[j / 2][j % 2 * 2 + 1]));
    }
  }
  unsigned line = row + from_a + lane / 4, at = col + from_b + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        unsigned r = line + i * 16 + h * 8, c = at + j * 8;
        if (r < m && c < n) *(__nv_bfloat162 *)&d[(unsigned long long)r * n + c] = __floats2bfloat162_rn(sums[i][j][h * 2], sums[i][j][h * 2 + 1]);
      }
}
