// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// The single and double precision library: long straight code, slow paths, local tables.

#define ONE(F) o[k++] = F(x);
#define TWO(F) o[k++] = F(x, y);

template <class T> __device__ void all(T *o, T x, T y, T z) {
  int k = 0;
  ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh)
  ONE(asinh) ONE(acosh) ONE(atanh) ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10)
  ONE(log1p) ONE(sqrt) ONE(cbrt) ONE(erf) ONE(erfc) ONE(tgamma) ONE(lgamma) ONE(floor) ONE(ceil)
  ONE(trunc) ONE(round) ONE(rint) ONE(fabs) ONE(logb)
  TWO(atan2) TWO(pow) TWO(fmod) TWO(remainder) TWO(hypot) TWO(fdim) TWO(fmin) TWO(fmax)
  TWO(copysign) TWO(nextafter)
  o[k++] = fma(x, y, z);
  int e;
  o[k++] = frexp(x, &e) + T(e);
  o[k++] = ldexp(x, e) + scalbn(y, 3);
  T whole;
  o[k++] = modf(x, &whole) + whole;
  int quotient;
  o[k++] = remquo(x, y, &quotient) + T(quotient);
  o[k++] = T(isnan(x) + isinf(y) + isfinite(z) + signbit(x));
}

extern "C" __global__ void single(float *o, const float *p) { all<float>(o, p[0], p[1], p[2]); }
extern "C" __global__ void twice(double *o, const double *p) { all<double>(o, p[0], p[1], p[2]); }

extern "C" __global__ void special(double *o, float *f) {
  double x = o[0];
  float a = f[0];
  o[1] = j0(x) + j1(x) + jn(3, x) + y0(x) + y1(x) + yn(2, x);
  o[2] = normcdf(x) + normcdfinv(x) + erfcinv(x) + erfcx(x) + erfinv(x);
  o[3] = rcbrt(x) + rsqrt(x) + exp10(x) + sinpi(x) + cospi(x) + cyl_bessel_i0(x) + cyl_bessel_i1(x);
  o[4] = norm3d(x, x, x) + rnorm4d(x, x, x, x) + rhypot(x, x);
  double s, c;
  sincos(x, &s, &c);
  o[5] = s * c;
  f[1] = j0f(a) + y1f(a) + normcdff(a) + erfcxf(a) + rcbrtf(a) + exp10f(a) + sinpif(a) + norm3df(a, a, a);
}
