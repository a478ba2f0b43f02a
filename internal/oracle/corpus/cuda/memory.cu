// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// State spaces, initialisers, alignment, cache operators, volatile and vector accesses.

struct Record { char tag; short half; int whole; double real; const char *name; };
struct Node { int key; const Node *next; };
struct __align__(8) Packed { unsigned a : 3, b : 7, c : 22; unsigned char d[4]; };
union Either { float f; unsigned u; unsigned char c[4]; };

__constant__ float weights[5] = {0.1f, -0.25f, 1e30f, 3.0f, 0x1p-126f};
__constant__ double exact[3] = {1.0 / 3, -0.0, 1e-300};
__constant__ unsigned char bytes[] = "text with \"quotes\" and \\ and \n end";
__constant__ Record records[2] = {{'a', -2, 3, 4.5, "first"}, {'b', 6, -7, 8.25, "second"}};
__device__ int counter = 42;
__device__ long long matrix[3][4] = {{1, 2}, {-3, 4, 5}, {}};
__device__ Node last = {3, nullptr};
__device__ Node middle = {2, &last};
__device__ Node first = {1, &middle};
__device__ int *inside = reinterpret_cast<int *>(&matrix[1][2]);
__device__ const char *words[] = {"zero", "one", "two"};
__device__ __managed__ int managed[16] = {9, 8, 7};
__device__ float4 vectors[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ volatile int flag;
__device__ unsigned char blob[33];
__device__ bool truth = true;
__device__ unsigned short shorts[] = {1, 65535, 3};
static __device__ double hidden[4];

extern "C" __global__ void constants(double *o, int i) {
  o[0] = weights[i] + exact[i] + bytes[i] + records[i].real + records[i & 1].tag + *records[i].name;
  o[1] = matrix[i][i + 1] + counter + *inside + words[i][1] + managed[i] + vectors[i].z + truth + shorts[i];
  hidden[i] = o[2];
  blob[i] = 3;
  const Node *n = &first;
  while (n) {
    o[3] += n->key;
    n = n->next;
  }
}

extern "C" __global__ void vectorised(float4 *a, double2 *b, int2 *c, uchar4 *d, ushort4 *e, longlong2 *f, short2 *g) {
  int i = threadIdx.x;
  float4 v = a[i];
  v.x += v.w;
  a[i + 1] = v;
  b[i + 1] = make_double2(b[i].y, b[i].x);
  c[i + 1] = make_int2(c[i].y, c[i].x);
  d[i + 1] = make_uchar4(d[i].w, d[i].z, d[i].y, d[i].x);
  e[i + 1] = make_ushort4(e[i].w, e[i].z, e[i].y, e[i].x);
  f[i + 1] = make_longlong2(f[i].y, f[i].x);
  g[i + 1] = make_short2(g[i].y, g[i].x);
}

extern "C" __global__ void caches(int *o, const int *p, const float4 *q, const double *d) {
  int r = __ldg(p) + __ldca(p + 1) + __ldcg(p + 2) + __ldcs(p + 3) + __ldlu(p + 4) + __ldcv(p + 5);
  float4 v = __ldg(q);
  r += (int)(v.x + __ldcs(q + 1).y + __ldcg(d));
  __stwb(o, r);
  __stcg(o + 1, r);
  __stcs(o + 2, r);
  __stwt(o + 3, r);
}

extern "C" __global__ void restricted(float *__restrict__ o, const float *__restrict__ p, const int *__restrict__ index, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = p[index[i]] * 2;
}

extern __shared__ __align__(128) unsigned char pool[];

template <class T> __global__ void dynamic(T *o, int n) {
  T *s = reinterpret_cast<T *>(pool);
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[n - threadIdx.x];
}
template __global__ void dynamic<char>(char *, int);
template __global__ void dynamic<float>(float *, int);
template __global__ void dynamic<double2>(double2 *, int);

extern "C" __global__ void shared(float *o) {
  __shared__ float tile[32][33];
  __shared__ double sums[8];
  __shared__ Record one;
  tile[threadIdx.y][threadIdx.x] = o[threadIdx.y * 32 + threadIdx.x];
  if (!threadIdx.x) one.whole = 3, one.tag = 'x', sums[threadIdx.y & 7] = 0;
  __syncthreads();
  o[threadIdx.x * 32 + threadIdx.y] = tile[threadIdx.x][threadIdx.y] + one.whole + one.tag + (float)sums[3];
}

extern "C" __global__ void local(int *o, int i, int j) {
  int a[40];
  Packed p = {1, 2, 3, {4, 5, 6, 7}};
  Either e;
  e.f = o[7];
  for (int k = 0; k < 40; k++) a[k] = o[k] * k;
  a[i] += a[j];
  p.b = i;
  p.d[i & 3] = j;
  o[0] = a[j & 31] + p.a + p.b * p.c + p.d[j & 3] + (e.u >> 23) + e.c[i & 3];
}

extern "C" __global__ void wait(int *o) {
  volatile int *v = o;
  while (flag == 0 && v[1] == 0) {}
  v[2] = 7;
  flag = 3;
}

struct Arguments { int n; float *p; struct { short a, b; } inner; double d[3]; bool on; };

extern "C" __global__ void values(Arguments a, const __grid_constant__ Arguments g, char c, short s, bool b, float3 v, long long l) {
  int i = threadIdx.x % 3;
  if (i < a.n && b) a.p[i] = a.inner.a + a.d[i] + g.d[i] + c + s + v.y + l + g.on;
  const Arguments *address = &g;
  if (address->inner.b) g.p[1] = address->d[i];
}

__global__ void __launch_bounds__(256, 2) bounded(int *o) { o[threadIdx.x] = blockIdx.x; }
__global__ void __launch_bounds__(1024) wide(int *o) { o[threadIdx.x] = gridDim.x + blockIdx.y + blockDim.z; }
#if __CUDA_ARCH__ >= 900
__global__ void __launch_bounds__(128, 1, 4) clustered(int *o) { o[threadIdx.x] = blockIdx.x; }
__global__ void __cluster_dims__(2, 2, 1) __launch_bounds__(64) fixedcluster(int *o) { o[threadIdx.x] = blockIdx.x; }
#endif
__global__ void __maxnreg__(64) few(int *o) { o[threadIdx.x] = threadIdx.y; }

extern "C" __global__ void spaces(void *p, unsigned long long *o) {
  o[0] = __isGlobal(p) + 2 * __isShared(p) + 4 * __isConstant(p) + 8 * __isLocal(p) + 16 * __isGridConstant(p);
  o[1] = __cvta_generic_to_shared(p) + __cvta_generic_to_global(p);
  memset(p, 3, 64);
  memcpy(o + 2, p, 48);
}
