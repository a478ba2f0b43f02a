// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Calls of every kind: recursion, pointers to functions, virtual methods, aggregates by value,
// printf, allocation on the stack, assertions.

#include <cassert>
#include <cstdio>

struct Pair { int a; double b; };
struct Big { float v[12]; short tag; };
struct alignas(16) Four { float x, y, z, w; };

__device__ __noinline__ Pair swap(Pair p) { return {int(p.b), double(p.a)}; }
__device__ __noinline__ Big scale(Big b, float f) {
  for (int i = 0; i < 12; i++) b.v[i] *= f;
  b.tag++;
  return b;
}
__device__ __noinline__ Four turn(Four f) { return {f.w, f.x, f.y, f.z}; }
__device__ __noinline__ char narrow(char c, short s, bool b, unsigned char u) { return b ? c + s : u; }
__device__ __noinline__ void nothing() { __threadfence_block(); }
__device__ __noinline__ __int128 wide(__int128 a, long long b) { return a * b; }

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n != 0 && even(n - 1); }

typedef float (*Unary)(float);
__device__ float twice(float x) { return x + x; }
__device__ float square(float x) { return x * x; }
__device__ float negate(float x) { return -x; }
__device__ Unary table[] = {twice, square, negate};
__constant__ Unary fixed = square;

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual int corners(int k) const { return k; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
  __device__ int corners(int k) const override { return k * 4; }
};
struct Circle : Shape {
  float radius;
  __device__ Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.14159f * radius * radius; }
};

extern "C" __global__ void aggregates(Pair *p, Big *b, Four *f, char *c, __int128 *w) {
  p[1] = swap(p[0]);
  b[1] = scale(b[0], 2.5f);
  f[1] = turn(f[0]);
  c[0] = narrow(c[1], c[2], c[3] > 3, c[4]);
  w[0] = wide(w[1], 77);
  nothing();
}

extern "C" __global__ void recursion(int *o, int m, int n) {
  o[0] = ackermann(m, n);
  o[1] = even(n) + 2 * odd(m);
}

extern "C" __global__ void pointers(float *o, int i, Unary extra) {
  o[0] = table[i](o[1]) + fixed(o[2]);
  if (extra) o[3] = extra(o[4]);
}

extern "C" __global__ void methods(float *o, int kind) {
  Square s(o[1]);
  Circle c(o[2]);
  Shape *shape = kind ? static_cast<Shape *>(&s) : &c;
  o[0] = shape->area() + shape->corners(kind);
  Shape *heap = kind > 3 ? static_cast<Shape *>(new Square(3)) : new Circle(4);
  o[3] = heap->area();
  delete heap;
}

extern "C" __global__ void prints(int *p, double d, const char *s) {
  printf("thread %d of %u: %f %s\n", p[threadIdx.x], blockDim.x, d, s);
  printf("no arguments, \"quotes\", a tab\t and \x7f\n");
  assert(p[0] > 3 && "must be more");
  if (p[1] == 7) __trap();
  if (p[2] == 7) __brkpt();
}

extern "C" __global__ void heap(int **o, int n) {
  int *p = static_cast<int *>(malloc(n * sizeof(int)));
  if (!p) return;
  for (int i = 0; i < n; i++) p[i] = i;
  o[threadIdx.x] = p;
  free(o[threadIdx.x + 1]);
}

extern "C" __global__ void stack(int *o, int n) {
  int *p = static_cast<int *>(__builtin_alloca(n * sizeof(int)));
  for (int i = 0; i < n; i++) p[i] = o[i] * i;
  for (int i = 0; i < n; i++) o[i] = p[n - 1 - i];
}
