// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects of every shape.

template <class T> __global__ void sample(T *o, cudaTextureObject_t t, float x, float y, float z) {
  T r = tex1D<T>(t, x);
  o[0] = r;
  o[1] = tex1Dfetch<T>(t, 3);
  o[2] = tex2D<T>(t, x, y);
  o[3] = tex3D<T>(t, x, y, z);
  o[4] = tex1DLayered<T>(t, x, 2);
  o[5] = tex2DLayered<T>(t, x, y, 2);
  o[6] = texCubemap<T>(t, x, y, z);
  o[7] = texCubemapLayered<T>(t, x, y, z, 1);
  o[8] = tex1DLod<T>(t, x, z);
  o[9] = tex2DLod<T>(t, x, y, z);
  o[10] = tex3DLod<T>(t, x, y, z, 1.f);
  o[11] = tex2DGrad<T>(t, x, y, make_float2(x, y), make_float2(y, x));
  o[12] = tex3DGrad<T>(t, x, y, z, make_float4(x, y, z, 0), make_float4(y, x, z, 0));
  o[13] = tex1DLayeredLod<T>(t, x, 1, z);
  o[14] = tex2DLayeredGrad<T>(t, x, y, 1, make_float2(x, y), make_float2(y, x));
  o[15] = texCubemapLod<T>(t, x, y, z, 2.f);
}
template __global__ void sample<float>(float *, cudaTextureObject_t, float, float, float);
template __global__ void sample<float2>(float2 *, cudaTextureObject_t, float, float, float);
template __global__ void sample<float4>(float4 *, cudaTextureObject_t, float, float, float);
template __global__ void sample<int4>(int4 *, cudaTextureObject_t, float, float, float);
template __global__ void sample<unsigned>(unsigned *, cudaTextureObject_t, float, float, float);
template __global__ void sample<uchar4>(uchar4 *, cudaTextureObject_t, float, float, float);
template __global__ void sample<short>(short *, cudaTextureObject_t, float, float, float);

extern "C" __global__ void gather(float4 *o, int4 *i, cudaTextureObject_t t, float x, float y) {
  o[0] = tex2Dgather<float4>(t, x, y, 0);
  o[1] = tex2Dgather<float4>(t, x, y, 1);
  o[2] = tex2Dgather<float4>(t, x, y, 2);
  i[0] = tex2Dgather<int4>(t, x, y, 3);
  bool resident;
  o[3] = tex2D<float4>(t, x, y, &resident);
  if (!resident) o[4] = tex2DLod<float4>(t, x, y, 3.f, &resident);
}

template <class T> __global__ void surface(T *o, cudaSurfaceObject_t s, int x, int y, int z) {
  o[0] = surf1Dread<T>(s, x);
  o[1] = surf2Dread<T>(s, x, y, cudaBoundaryModeClamp);
  o[2] = surf3Dread<T>(s, x, y, z, cudaBoundaryModeZero);
  o[3] = surf1DLayeredread<T>(s, x, 1, cudaBoundaryModeTrap);
  o[4] = surf2DLayeredread<T>(s, x, y, 1);
  o[5] = surfCubemapread<T>(s, x, y, 1);
  surf1Dwrite(o[0], s, x);
  surf2Dwrite(o[1], s, x, y, cudaBoundaryModeClamp);
  surf3Dwrite(o[2], s, x, y, z, cudaBoundaryModeZero);
  surf1DLayeredwrite(o[3], s, x, 1);
  surf2DLayeredwrite(o[4], s, x, y, 1);
}
template __global__ void surface<unsigned char>(unsigned char *, cudaSurfaceObject_t, int, int, int);
template __global__ void surface<short2>(short2 *, cudaSurfaceObject_t, int, int, int);
template __global__ void surface<float>(float *, cudaSurfaceObject_t, int, int, int);
template __global__ void surface<int4>(int4 *, cudaSurfaceObject_t, int, int, int);
template __global__ void surface<longlong2>(longlong2 *, cudaSurfaceObject_t, int, int, int);

extern "C" __global__ void queries(int *o, cudaTextureObject_t t, cudaSurfaceObject_t s) {
  asm("txq.width.b32 %0, [%1];" : "=r"(o[0]) : "l"(t));
  asm("txq.height.b32 %0, [%1];" : "=r"(o[1]) : "l"(t));
  asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(o[2]) : "l"(t));
  asm("suq.width.b32 %0, [%1];" : "=r"(o[3]) : "l"(s));
  asm("suq.array_size.b32 %0, [%1];" : "=r"(o[4]) : "l"(s));
}
