// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Control flow: jump tables, loops of every shape, unrolling, early exits, gotos.

extern "C" __device__ __noinline__ int jump(int k, int x) {
  switch (k) {
  case 0: return x + 1;
  case 1: return x * 3;
  case 2: return x - 7;
  case 3: return x ^ 0x55;
  case 4: return x / 9;
  case 5: return x % 11;
  case 6: return ~x;
  case 7: return x << 3;
  case 8: return __popc(x);
  case 9: return x | 0x1000;
  case 10: return -x;
  case 11: return x * x;
  default: return 0;
  }
}

extern "C" __global__ void table(int *o, int n) {
  for (int i = 0; i < n; i++) {
    int v = o[i];
    switch (v) {
    case 10: o[i] = v * o[1]; break;
    case 11: atomicAdd(o + 2, v); break;
    case 12: o[i] -= o[3]; __syncthreads(); break;
    case 13: o[i + 1] = v; [[fallthrough]];
    case 14: o[i] = jump(v, i); break;
    case 15: return;
    case 16: o[i] = __brev(v); break;
    case 17: continue;
    case 18: o[i] = v / o[4]; break;
    default: o[i]++;
    }
  }
}

extern "C" __global__ void loops(int *o, int n) {
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++) sum += o[i];
#pragma unroll
  for (int i = 0; i < 8; i++) sum ^= o[i];
#pragma unroll 4
  for (int i = n; i > 0; i /= 2) sum += o[i] * i;
  int k = n;
  while (k != 1) {
    k = k & 1 ? 3 * k + 1 : k >> 1;
    if (++sum > 1000) break;
  }
  do {
    for (int j = 0; j < k; j++)
      for (int l = j; l < n; l += 3)
        if (o[l] < o[j]) {
          int t = o[l];
          o[l] = o[j];
          o[j] = t;
        } else if (o[l] == 99)
          goto out;
  } while (o[k++] != 5);
out:
  o[n] = sum;
}

extern "C" __global__ void nested(float *o, const float *p, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float best = -1e30f;
  for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {
      int u = x + dx, v = y + dy;
      if (u < 0 || u >= w || v < 0 || v >= h) continue;
      float q = p[v * w + u];
      best = q > best ? q : best;
    }
  o[y * w + x] = best;
}

extern "C" __global__ void divergent(int *o) {
  int t = threadIdx.x;
  int v = o[t];
  if (t & 1) {
    if (t & 2) v += 3; else v -= 4;
    if (v > 100 && t > 7 || v < -100) v = 0;
  } else if (t % 5 == 0)
    v = v > 0 ? v * 2 : v < -5 ? -v : 1;
  __builtin_assume(v > -1000);
  o[t] = __builtin_expect(v > 9, 1) ? v : 9;
}
