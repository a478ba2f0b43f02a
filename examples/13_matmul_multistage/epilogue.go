// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"cmp"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Epilogue specifies how the accumulators are changed before they are stored. Each field
// except D requires F32 accumulators.
type Epilogue struct {
	// D is the type of the result; the default is the type of the accumulators. F32 accumulators
	// can be stored as F16 or BF16. S32 accumulators can be multiplied by the parameter alpha and
	// stored as F32, or as S8 with saturation.
	D          isa.Type
	Scale      bool       // D = alpha * A * B' + beta * C, with C in F32
	Bias       bool       // adds a bias to each column
	Activation Activation // applied after Scale and Bias
}

// An Activation is a function that is applied to each element of D.
type Activation int

// The supported activation functions.
const (
	Identity Activation = iota
	ReLU
	GELU // the approximation that uses tanh
)

// geluCubic and geluScale are the constants of GELU: x/2 * (1 + tanh(geluScale * (x + geluCubic *
// x^3))), which equals x * sigmoid(2 * geluScale * (x + geluCubic * x^3)).
const geluCubic = 0.044715

var geluScale = math.Sqrt(2 / math.Pi)

// apply returns the activation function of x.
func (a Activation) apply(k *dsl.Kernel, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
	switch a {
	case ReLU:
		return x.Max(k.F32(0))
	case GELU:
		inner := x.Mul(x).Mul(x).FMA(k.F32(geluCubic), x)
		return x.Mul(inner.MulF(-2 * geluScale).Exp().Add(k.F32(1)).Rcp())
	}
	return x
}

// A writer writes accumulators of type C to D. Of the fields for D, only that of the selected
// output is set.
type writer[C dsl.Scalar] struct {
	k           *dsl.Kernel
	o           Options
	d           *dsl.Matrix
	sums        dsl.Array[C] // D, if partial sums are added to it
	floats      dsl.Array[dsl.F32]
	bytes       dsl.Array[dsl.S8]
	c, bias     dsl.Array[dsl.F32]
	alpha, beta dsl.Reg[dsl.F32]
}

// declare declares the parameters of the kernel that an epilogue needs, starting with D.
func declare[C dsl.Scalar](k *dsl.Kernel, o Options) *writer[C] {
	w, e := &writer[C]{k: k, o: o}, o.Epilogue
	switch {
	case o.Split != NoSplit:
		w.sums = dsl.Global[C](k, "d")
	case o.Sums == isa.S32 && e.D == isa.F32:
		w.floats = dsl.Global[dsl.F32](k, "d")
	case o.Sums == isa.S32 && e.D == isa.S8:
		w.bytes = dsl.Global[dsl.S8](k, "d")
	default:
		w.d = k.Matrix("d", cmp.Or(e.D, o.Sums))
	}
	if e.Scale {
		w.c, w.beta = dsl.Global[dsl.F32](k, "c"), dsl.Param[dsl.F32](k, "beta")
	}
	if e.Scale || w.d == nil && o.Split == NoSplit {
		w.alpha = dsl.Param[dsl.F32](k, "alpha")
	}
	if e.Bias {
		w.bias = dsl.Global[dsl.F32](k, "bias")
	}
	return w
}

// store applies the epilogue to the tile of a warp and stores the tile. row and col are the
// position of its first element in D.
func (w *writer[C]) store(sums *dsl.WarpTile[C], in operands, row, col dsl.Reg[dsl.U32]) {
	if f, ok := any(sums).(*dsl.WarpTile[dsl.F32]); ok {
		w.change(f, in, row, col)
	}
	if w.d != nil {
		sums.Store(in.d, row, col)
		return
	}
	sums.Each(func(r, c dsl.Reg[dsl.U32], x, y dsl.Reg[C]) {
		r, c = r.Add(row), c.Add(col)
		w.k.If(r.LT(in.rows).And(c.LT(in.cols)), func() { w.put(r.Mad(in.cols, c), x, y) })
	})
}

// put stores two adjacent elements, or adds them to D.
func (w *writer[C]) put(at dsl.Reg[dsl.U32], x, y dsl.Reg[C]) {
	scaled := func(x dsl.Reg[C]) dsl.Reg[dsl.F32] { return dsl.To[dsl.F32](x).Mul(w.alpha) }
	switch {
	case w.o.Split != NoSplit:
		w.sums.Reduce("add", at, x)
		w.sums.Reduce("add", at.AddI(1), y)
	case w.o.Epilogue.D == isa.F32:
		w.floats.StoreVec(at, []dsl.Reg[dsl.F32]{scaled(x), scaled(y)})
	default:
		narrow := func(x dsl.Reg[C]) dsl.Reg[dsl.S8] {
			return dsl.To[dsl.S8](scaled(x), dsl.RNI, dsl.Sat)
		}
		w.bytes.StoreVec(at, []dsl.Reg[dsl.S8]{narrow(x), narrow(y)})
	}
}

// change applies the epilogue to the accumulators. Elements outside D are computed with the
// values of C and the bias at the edge of D, and not stored.
func (w *writer[C]) change(sums *dsl.WarpTile[dsl.F32], in operands, row, col dsl.Reg[dsl.U32]) {
	e, k := w.o.Epilogue, w.k
	if !e.Scale && !e.Bias && e.Activation == Identity {
		return
	}
	sums.MapPairs(func(c dsl.Cell, x, y dsl.Reg[dsl.F32]) (dsl.Reg[dsl.F32], dsl.Reg[dsl.F32]) {
		r, left := c.Row().Add(row).Min(in.rows.SubI(1)), c.Col().Add(col).Min(in.cols.SubI(2))
		if e.Scale {
			x, y = x.Mul(w.alpha).Var(), y.Mul(w.alpha).Var()
			k.Unless(w.beta.EQF(0), func() { // then C is not read, and may be NaN
				old := w.c.LoadVec(r.Mad(in.cols, left), 2)
				x.Set(old[0].FMA(w.beta, x))
				y.Set(old[1].FMA(w.beta, y))
			})
		}
		if e.Bias {
			b := w.bias.LoadVec(left, 2)
			x, y = x.Add(b[0]), y.Add(b[1])
		}
		return e.Activation.apply(k, x), e.Activation.apply(k, y)
	})
}
