// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// The standard library on the device: optional, variant, tuple, array, span, complex, bit, chrono,
// lambdas, templates with long names.

#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

namespace deeply { namespace nested { namespace space {
template <class First, class Second, int Number> struct Machine {
  First first;
  Second second;
  template <class F> __device__ auto run(F f) const { return f(first, second) + Number; }
};
}}}

template <class M, class F> __global__ void machine(float *o, M m, F f) { o[threadIdx.x] = m.run(f); }

struct Pick {
  template <class A, class T> __device__ float operator()(A a, T t) const { return a[1] + cuda::std::get<1>(t); }
};
struct Add {
  __device__ float operator()(float a, int b) const { return a + b; }
};
template __global__ void machine(float *, deeply::nested::space::Machine<float, int, 7>, Add);
template __global__ void machine(float *, deeply::nested::space::Machine<cuda::std::array<float, 3>, cuda::std::tuple<int, double>, -3>,
                                 Pick);

extern "C" __global__ void options(int *o, int n) {
  cuda::std::optional<int> maybe;
  if (o[0] > n) maybe = o[1];
  o[2] = maybe.value_or(7);
  cuda::std::variant<int, float, double> v;
  if (n == 1) v = 3;
  else if (n == 2) v = 4.5f;
  else v = double(n);
  o[3] = cuda::std::visit([](auto x) { return int(x * 2); }, v);
  cuda::std::span<int> s(o, n);
  for (int &x : s.subspan(4)) x = cuda::std::rotl(unsigned(x), 5) + cuda::std::popcount(unsigned(x)) + cuda::std::countl_zero(unsigned(x));
}

template <class T> __global__ void numbers(cuda::std::complex<T> *o) {
  auto a = o[0], b = o[1];
  o[2] = a * b + cuda::std::conj(a) / b;
  o[3] = cuda::std::exp(a) + cuda::std::sqrt(b) + cuda::std::sin(a);
  o[4] = cuda::std::pow(a, b) + cuda::std::abs(a) + cuda::std::log(b) + cuda::std::tanh(a);
}
template __global__ void numbers<float>(cuda::std::complex<float> *);
template __global__ void numbers<double>(cuda::std::complex<double> *);

extern "C" __global__ void lambdas(float *o, int n) {
  auto scale = [=](float x) { return x * n; };
  auto again = [&](auto self, int k) -> float { return k == 0 ? 1.0f : scale(o[k]) + self(self, k - 1); };
  o[0] = again(again, n);
  auto start = cuda::std::chrono::high_resolution_clock::now();
  o[1] = (cuda::std::chrono::high_resolution_clock::now() - start).count();
}
