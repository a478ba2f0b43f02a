// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic, comparison, selection and conversion on every scalar type.

template <class T> struct Ops {
  static __device__ T run(T a, T b, T c) {
    T r = a + b * c;
    r -= a / (b ? b : T(1));
    r = r < c ? r : c;
    r = r > a ? r + T(3) : r - T(5);
    return r;
  }
};

template <class T> __global__ void arith(T *out, const T *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 2 < n) out[i] = Ops<T>::run(in[i], in[i + 1], in[i + 2]);
}

template <class T> __global__ void bits(T *out, const T *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  T a = in[i], b = in[i + 1];
  T r = (a & b) ^ (a | ~b);
  r = (r << (b & 7)) + (a >> (b & 3));
  r += a % (b | 1);
  r ^= (a << 5) | (a >> 3);
  out[i] = r;
}

template <class To, class From> __global__ void convert(To *out, const From *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<To>(in[i]);
}

template <class T> __global__ void compare(int *out, const T *a, const T *b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int r = 0;
    r |= (a[i] < b[i]) << 0;
    r |= (a[i] <= b[i]) << 1;
    r |= (a[i] == b[i]) << 2;
    r |= (a[i] != b[i]) << 3;
    r |= (a[i] > b[i] && a[i] < T(9)) << 4;
    r |= (a[i] >= b[i] || !(b[i] < T(2))) << 5;
    out[i] = r;
  }
}

#define SCALARS(M)                                                                            \
  M(signed char) M(unsigned char) M(short) M(unsigned short) M(int) M(unsigned) M(long long)   \
      M(unsigned long long) M(float) M(double)
#define INTEGERS(M)                                                                           \
  M(signed char) M(unsigned char) M(short) M(unsigned short) M(int) M(unsigned) M(long long)   \
      M(unsigned long long)

#define ARITH(T) template __global__ void arith<T>(T *, const T *, int);
SCALARS(ARITH)
#define BITS(T) template __global__ void bits<T>(T *, const T *, int);
INTEGERS(BITS)
#define COMPARE(T) template __global__ void compare<T>(int *, const T *, const T *, int);
SCALARS(COMPARE)
#define FROM(T)                                                                               \
  template __global__ void convert<signed char, T>(signed char *, const T *, int);            \
  template __global__ void convert<unsigned short, T>(unsigned short *, const T *, int);      \
  template __global__ void convert<int, T>(int *, const T *, int);                            \
  template __global__ void convert<unsigned, T>(unsigned *, const T *, int);                  \
  template __global__ void convert<long long, T>(long long *, const T *, int);                \
  template __global__ void convert<unsigned long long, T>(unsigned long long *, const T *, int); \
  template __global__ void convert<float, T>(float *, const T *, int);                        \
  template __global__ void convert<double, T>(double *, const T *, int);
SCALARS(FROM)

extern "C" __global__ void wide(__int128 *out, const __int128 *in, int n) {
  int i = threadIdx.x;
  if (i + 1 >= n) return;
  __int128 a = in[i], b = in[i + 1];
  out[i] = a * b + (a >> 9) - (b << 70) + (a < b ? a / (b | 1) : a % (b | 3));
}

extern "C" __global__ void unsignedwide(unsigned __int128 *out, const unsigned long long *in) {
  unsigned __int128 a = (unsigned __int128)in[0] * in[1];
  out[threadIdx.x] = a * in[2] + in[3];
}
