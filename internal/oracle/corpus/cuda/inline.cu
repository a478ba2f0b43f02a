// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions that no compiler writes by itself, inline: logic, bit fields, video, cache policies,
// address tests, special registers, pragmas, nested scopes, labels.

extern "C" __global__ void logic(unsigned *o, unsigned long long *l) {
  unsigned a = o[0], b = o[1], c = o[2], r;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(o[3]) : "r"(a), "r"(b), "r"(c));
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(o[4]) : "r"(a), "r"(b), "r"(c));
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(o[4]) : "r"(a), "r"(b), "r"(c));
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(o[5]) : "r"(a), "r"(b), "r"(c));
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(l[5]) : "l"(l[0]), "r"(b), "r"(c));
  asm("bfi.b32 %0, %1, %2, %3, 7;" : "=r"(o[6]) : "r"(a), "r"(b), "r"(c));
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(o[7]) : "r"(a), "r"(b));
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(o[8]) : "r"(a), "r"(b));
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(o[9]) : "r"(a), "r"(b), "r"(c));
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(o[10]) : "r"(a));
  asm("bfind.s64 %0, %1;" : "=r"(o[11]) : "l"(l[1]));
  asm("cnot.b32 %0, %1;" : "=r"(o[12]) : "r"(a));
  asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(o[13]) : "r"(a), "r"(b), "r"(c));
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(o[14]) : "r"(a), "r"(b), "r"(c));
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(o[15]) : "r"(a), "r"(b), "r"(c));
  asm("mul24.hi.u32 %0, %1, %2;" : "=r"(o[16]) : "r"(a), "r"(b));
  asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(o[17]) : "r"(a), "r"(b), "r"(c));
  asm("{ .reg .pred p, q; setp.lt.and.u32 p|q, %1, %2, 1; @!p bra SKIP; mov.u32 %0, 7; SKIP: @q mov.u32 %0, 9; }" : "=r"(r) : "r"(a), "r"(b));
  asm("set.gt.u32.s32 %0, %1, %2;" : "=r"(o[18]) : "r"(a), "r"(b));
  o[19] = r;
}

extern "C" __global__ void video(int *o) {
  int a = o[0], b = o[1], c = o[2];
  asm("vadd.s32.u32.s32.sat %0, %1.b0, %2.h1, %3;" : "=r"(o[3]) : "r"(a), "r"(b), "r"(c));
  asm("vsub.s32.s32.u32.min %0, %1, %2.b3, %3;" : "=r"(o[4]) : "r"(a), "r"(b), "r"(c));
  asm("vabsdiff.u32.s32.s32.add %0, %1.h0, %2, %3;" : "=r"(o[5]) : "r"(a), "r"(b), "r"(c));
  asm("vmin.s32.s32.s32 %0.b2, %1, %2, %3;" : "=r"(o[6]) : "r"(a), "r"(b), "r"(c));
  asm("vshl.u32.u32.u32.clamp %0, %1, %2;" : "=r"(o[7]) : "r"(a), "r"(b));
  asm("vmad.s32.s32.u32.shr7 %0, %1.b0, %2.b1, -%3;" : "=r"(o[8]) : "r"(a), "r"(b), "r"(c));
  asm("vset.s32.u32.lt %0, %1, %2;" : "=r"(o[9]) : "r"(a), "r"(b));
  asm("vadd2.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(o[10]) : "r"(a), "r"(b), "r"(c));
  asm("vavrg4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(o[11]) : "r"(a), "r"(b), "r"(c));
  asm("vset4.u32.u32.ne %0.b20, %1.b7654, %2.b3210, %3;" : "=r"(o[12]) : "r"(a), "r"(b), "r"(c));
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(o[13]) : "r"(a), "r"(b), "r"(c));
}

extern "C" __global__ void addresses(unsigned long long *o, const void *p, const __grid_constant__ int grid) {
  unsigned r;
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(p));
  o[0] = r;
  asm("{ .reg .u64 t; cvta.to.global.u64 t, %1; ld.global.nc.u64 %0, [t+8]; }" : "=l"(o[1]) : "l"(p));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
  asm volatile("prefetchu.L1 [%0];" ::"l"(p));
#if __CUDA_ARCH__ >= 800
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(policy));
  asm volatile("createpolicy.cvt.L2.b64 %0, 0x10F0000000000000;" : "=l"(policy));
  unsigned v, w, x, y;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.L2::256B.v4.u32 {%0,%1,%2,%3}, [%4], %5;" : "=r"(v), "=r"(w), "=r"(x), "=r"(y) : "l"(__cvta_generic_to_global(p)), "l"(policy));
  asm volatile("st.global.L1::evict_last.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(__cvta_generic_to_global(o)), "r"(v + w + x + y), "l"(policy));
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(__cvta_generic_to_global(o)));
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(__cvta_generic_to_global(o)));
#endif
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(__cvta_generic_to_global(p)));
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(r) : "l"(p));
  asm volatile("st.release.cta.u32 [%0], %1;" ::"l"(o), "r"(r));
  asm volatile("ld.volatile.global.u32 %0, [%1+-4];" : "=r"(r) : "l"(__cvta_generic_to_global(p)));
  asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(o)), "r"(r));
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(o)), "r"(r));
  asm volatile("atom.acq_rel.sys.global.cas.b64 %0, [%1], %2, %3;" : "=l"(o[2]) : "l"(__cvta_generic_to_global(o)), "l"(o[3]), "l"(o[4]));
  asm volatile("fence.sc.sys; fence.acq_rel.gpu; membar.cta; fence.proxy.alias;" ::: "memory");
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.v2.f32.add [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(o)), "f"(1.f), "f"(2.f));
  asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; atom.global.b128.exch q, [%0], q; }" ::"l"(__cvta_generic_to_global(o)), "l"(o[5]), "l"(o[6]));
#endif
  o[7] = grid;
}

extern "C" __global__ void registers(unsigned *o, unsigned long long *l) {
  int k = 0;
#define REG(NAME) asm volatile("mov.u32 %0, %%" NAME ";" : "=r"(o[k++]));
  REG("tid.x") REG("tid.y") REG("ntid.z") REG("ctaid.x") REG("nctaid.y") REG("laneid") REG("warpid") REG("nwarpid")
  REG("smid") REG("nsmid") REG("lanemask_eq") REG("lanemask_le") REG("lanemask_lt") REG("lanemask_ge") REG("lanemask_gt")
  REG("clock") REG("clock_hi") REG("total_smem_size") REG("dynamic_smem_size") REG("pm0") REG("envreg3")
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(l[0]));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(l[1]));
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(l[2]));
#if __CUDA_ARCH__ >= 900
  REG("cluster_ctaid.x") REG("cluster_nctarank") REG("clusterid.y") REG("nclusterid.z")
  asm volatile("mov.u64 %0, %%current_graph_exec;" : "=l"(l[3]));
#endif
}

extern "C" __global__ void pragmas(float *o, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    asm volatile(".pragma \"nounroll\";");
    sum += o[i];
  }
  asm volatile("{\n\t// a comment inside, with { braces } and ; semicolons\n\t.reg .f32 t<3>;\n\t/* another */ add.f32 t0, %0, 0f3F800000;\n\tmul.rn.ftz.f32 t1, t0, 1.5e-3; { .reg .f32 t2; neg.f32 t2, t1; mov.f32 %0, t2; }\n\t}" : "+f"(sum));
  asm volatile("pmevent 3; nanosleep.u32 20;");
  o[n] = sum;
}

extern "C" __global__ void functions(float *o, double *d) {
  float a = o[0];
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(o[1]) : "f"(a));
  asm("ex2.approx.f32 %0, %1;" : "=f"(o[2]) : "f"(a));
  asm("lg2.approx.f32 %0, %1;" : "=f"(o[3]) : "f"(a));
  asm("tanh.approx.f32 %0, %1;" : "=f"(o[4]) : "f"(a));
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(d[1]) : "d"(d[0]));
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(d[2]) : "d"(d[0]));
  asm("div.full.f32 %0, %1, %2;" : "=f"(o[5]) : "f"(a), "f"(o[6]));
  asm("fma.rm.sat.f32 %0, %1, %1, %1;" : "=f"(o[7]) : "f"(a));
  asm("copysign.f64 %0, %1, %2;" : "=d"(d[3]) : "d"(d[0]), "d"(d[1]));
  asm("cvt.rni.ftz.sat.f32.f32 %0, %1;" : "=f"(o[8]) : "f"(a));
#if __CUDA_ARCH__ >= 800
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(a), "f"(o[9]));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(a));
  o[12] = r;
#endif
#if __CUDA_ARCH__ >= 860
  asm("min.NaN.xorsign.abs.f32 %0, %1, %2;" : "=f"(o[10]) : "f"(a), "f"(o[11]));
#endif
#if __CUDA_ARCH__ >= 1000
  asm("add.rn.f32x2 %0, %1, %2;" : "=l"(((long long *)d)[4]) : "l"(((long long *)d)[5]), "l"(((long long *)d)[6]));
  asm("fma.rn.ftz.f32x2 %0, %1, %2, %1;" : "=l"(((long long *)d)[7]) : "l"(((long long *)d)[5]), "l"(((long long *)d)[6]));
  asm("max.f32 %0, %1, %2, %3;" : "=f"(o[13]) : "f"(a), "f"(o[14]), "f"(o[15]));
#endif
}
