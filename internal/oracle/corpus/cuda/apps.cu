// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Small whole programs: matrix product, transpose, stencil, n-body, histogram, scan, sparse product,
// breadth-first search, reduction, softmax, layer norm.

template <class T, int B> __global__ void product(T *c, const T *a, const T *b, int n) {
  __shared__ T s[B][B], t[B][B];
  int row = blockIdx.y * B + threadIdx.y, col = blockIdx.x * B + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < n; k += B) {
    s[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < B; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
template __global__ void product<float, 16>(float *, const float *, const float *, int);
template __global__ void product<double, 32>(double *, const double *, const double *, int);
template __global__ void product<int, 8>(int *, const int *, const int *, int);

template <int M, int N> __global__ void registers(float *c, const float *a, const float *b, int n) {
  float acc[M][N] = {};
  for (int k = 0; k < n; k++)
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
      for (int j = 0; j < N; j++) acc[i][j] += a[(threadIdx.y * M + i) * n + k] * b[k * n + threadIdx.x * N + j];
#pragma unroll
  for (int i = 0; i < M; i++)
#pragma unroll
    for (int j = 0; j < N; j++) c[(threadIdx.y * M + i) * n + threadIdx.x * N + j] = acc[i][j];
}
template __global__ void registers<4, 4>(float *, const float *, const float *, int);
template __global__ void registers<8, 8>(float *, const float *, const float *, int);

extern "C" __global__ void transpose(float *o, const float *p, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = p[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) o[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void stencil(double *o, const double *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i < n - 1 && j < n - 1)
    o[j * n + i] = 0.25 * (p[j * n + i - 1] + p[j * n + i + 1] + p[(j - 1) * n + i] + p[(j + 1) * n + i]) - p[j * n + i];
}

extern "C" __global__ void bodies(float4 *speed, const float4 *place, int n, float step) {
  extern __shared__ float4 cache[];
  float4 me = place[blockIdx.x * blockDim.x + threadIdx.x];
  float3 f = {0, 0, 0};
  for (int t = 0; t < n; t += blockDim.x) {
    cache[threadIdx.x] = place[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < blockDim.x; k++) {
      float4 o = cache[k];
      float x = o.x - me.x, y = o.y - me.y, z = o.z - me.z;
      float inverse = rsqrtf(x * x + y * y + z * z + 1e-6f);
      float s = o.w * inverse * inverse * inverse;
      f.x += x * s;
      f.y += y * s;
      f.z += z * s;
    }
    __syncthreads();
  }
  float4 v = speed[blockIdx.x * blockDim.x + threadIdx.x];
  speed[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(v.x + f.x * step, v.y + f.y * step, v.z + f.z * step, v.w);
}

extern "C" __global__ void histogram(unsigned *bins, const uchar4 *p, int n) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uchar4 v = p[i];
    atomicAdd(mine + v.x, 1);
    atomicAdd(mine + v.y, 1);
    atomicAdd(mine + v.z, 1);
    atomicAdd(mine + v.w, 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(bins + i, mine[i]);
}

extern "C" __global__ void scan(int *o, const int *p, int n) {
  extern __shared__ int work[];
  int t = threadIdx.x;
  work[t] = t < n ? p[t] : 0;
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    int v = t >= d ? work[t - d] : 0;
    __syncthreads();
    work[t] += v;
  }
  if (t < n) o[t] = work[t];
}

extern "C" __global__ void sparse(double *y, const double *x, const double *v, const int *col, const int *row, int n) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  double sum = 0;
  for (int i = row[warp] + lane; i < row[warp + 1]; i += 32) sum += v[i] * x[col[i]];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (!lane) y[warp] = sum;
}

extern "C" __global__ void breadth(int *level, const int *row, const int *edge, int *more, int now, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != now) return;
  for (int i = row[v]; i < row[v + 1]; i++) {
    int to = edge[i];
    if (atomicCAS(&level[to], -1, now + 1) == -1) *more = 1;
  }
}

extern "C" __global__ void softmax(float *o, const float *p, int n) {
  p += blockIdx.x * n;
  float top = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) top = fmaxf(top, p[i]);
  for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int i = threadIdx.x; i < n; i += 32) sum += expf(p[i] - top);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = threadIdx.x; i < n; i += 32) o[blockIdx.x * n + i] = expf(p[i] - top) / sum;
}

extern "C" __global__ void mandelbrot(unsigned *o, int w, double x, double y, double step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double cx = x + i % w * step, cy = y + i / w * step, a = 0, b = 0;
  unsigned k = 0;
  for (; k < 1000 && a * a + b * b < 4; k++) {
    double t = a * a - b * b + cx;
    b = 2 * a * b + cy;
    a = t;
  }
  o[i] = k;
}
