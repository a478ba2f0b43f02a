// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import "github.com/ptxdsl/ptxdsl/dsl"

// Values shows arithmetic and conversions.
func Values(m *dsl.Module) {
	k := m.Kernel("values", dsl.Threads(256))
	x, y, z := dsl.Param[dsl.F32](k, "x"), dsl.Param[dsl.F32](k, "y"), dsl.Param[dsl.F32](k, "z")
	i, j := dsl.Param[dsl.U32](k, "i"), dsl.Param[dsl.U32](k, "j")
	h := dsl.Param[dsl.BF16](k, "h")

	//cuda: `x + y`, `x + 1`, `x * 0.5f`
	use(x.Add(y), x.AddF(1), x.MulF(0.5))

	//cuda: `i + j`, `i + 1`, `i * 4`, `i << 2`, `i & 31`
	use(i.Add(j), i.AddI(1), i.MulI(4), i.ShlI(2), i.AndI(31))

	//cuda: `fmaf(x, y, z)`
	use(x.FMA(y, z))

	//cuda: `i * j + 1`
	use(i.Mad(j, k.U32(1)))

	//cuda: `(n + 127) / 128`
	use(i.CeilDiv(128))

	//cuda: `x / y`, `__fdividef(x, y)`
	use(x.Div(y), x.Div(y, dsl.Approx))

	//cuda: `min(i, j)`, `fmaxf(x, 0)`
	use(i.Min(j), x.MaxF(0))

	//cuda: `sqrtf(x)`, `rsqrtf(x)`, `__expf(x)`, `exp2f(x)`, `tanhf` as `tanh.approx`
	use(x.Sqrt(), x.Rsqrt(), x.Exp(), x.Exp2(), x.Tanh())

	//cuda: `i < j`, `x >= 0`, `a && b`, `!a`
	p, q := i.LT(j), x.GEF(0)
	use(p.And(q), p.Not())

	//cuda: `p ? x : y`
	use(dsl.Select(p, x, y))

	//cuda: `float total = 0; total += x;`
	total := k.F32(0).Var()
	total.Set(total.Add(x))

	//cuda: `(float)i`, `(int)x`
	use(dsl.To[dsl.F32](i), dsl.To[dsl.S32](x))

	//cuda: `__float_as_uint(x)`
	use(dsl.Bits[dsl.U32](x))

	//cuda: `__float2bfloat16(x)`, `__bfloat162float(h)`
	use(dsl.To[dsl.BF16](x), dsl.To[dsl.F32](h))

	//cuda: `__floats2bfloat162_rn(x, y)`, and back
	pair := dsl.Pack[dsl.BF16x2](dsl.To[dsl.BF16](x), dsl.To[dsl.BF16](y))
	lo, hi := dsl.Widen(pair)

	//cuda: `__umulhi(i, j)`, `(uint64_t)i * j`
	use(i.MulHi(j), dsl.MulWide[dsl.U64](i, j))

	//cuda: `__popc(i)`, `__clz(i)`, `__brev(i)`
	use(i.PopCount(), i.LeadingZeros(), i.Reverse())

	//cuda: `__byte_perm(i, j, 0x0123)`
	use(dsl.Result[dsl.U32](k, "prmt.b32", i, j, 0x0123))

	//cuda: `n += p`, for a bool p
	n := k.U32(0).Var()
	n.Set(n.Add(dsl.Select(p, k.U32(1), k.U32(0))))

	use(lo, hi)
}
