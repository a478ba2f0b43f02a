// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	ladder "github.com/ptxdsl/ptxdsl/examples/10_matmul_ladder"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	blackwell "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A plan specifies which kernel computes a product, and with which arguments.
type plan struct {
	name   string // name of the kernel and its tiling
	kernel string
	build  func(*dsl.Module)
	blocks int
	direct bool // whether the kernel writes the final result, which no other kernel converts

	operand, sums, result isa.Type
	m, n, depth           int // depth is the padded length of a sum
	width                 int // padded number of columns of the product

	turnA, turnB    bool // whether the kernel reads an operand as it is stored, transposed
	swapped         bool // whether the kernel computes the transposed product, B' * A'
	partials, flags int  // lengths of the arrays for stream-K, or 0
}

// String returns the name of the kernel and the sizes of the product.
func (p *plan) String() string {
	return fmt.Sprintf("%s, %dx%dx%d", p.name, p.m, p.n, p.depth)
}

// copies reports whether an operand has to be copied because it is transposed or padded.
func (p *plan) copies(transposed bool, rows, cols, height int) bool {
	return transposed || rows != height || cols != p.depth
}

// precision returns the type in which the product is multiplied by the factors.
func (p *plan) precision() isa.Type {
	switch {
	case p.sums == isa.F64 || p.result == isa.F64:
		return isa.F64
	case p.result == isa.S32:
		return isa.S32
	}
	return isa.F32
}

// Describe returns a description of the kernel that Multiply uses for the arguments, and its
// grid.
func Describe[D, E runtime.Element](l *Library, d Matrix[D], a, b Matrix[E],
	o Options) (string, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	p, err := choose(l, d, a, b, o.resolve())
	if err != nil {
		return "", fmt.Errorf("gemm: %w", err)
	}
	var copies []string
	if !p.turnA && p.copies(a.Transposed, a.Rows, a.Cols, p.m) {
		copies = append(copies, "A")
	}
	if !p.turnB && p.copies(!b.Transposed, b.Cols, b.Rows, p.width) {
		copies = append(copies, "B")
	}
	text := fmt.Sprintf("%s, %d blocks", p, p.blocks)
	if len(copies) > 0 {
		text += ", copies " + strings.Join(copies, " and ")
	}
	if !p.direct {
		text += ", converts the product"
	}
	return text, nil
}

// plans returns the kernels that can multiply the matrices. The first has the highest expected
// speed.
func plans[D, E runtime.Element](info runtime.Info, d Matrix[D], a, b Matrix[E],
	o Options) ([]*plan, error) {
	p, err := planOf(info, d, a, b, o)
	if err != nil {
		return nil, err
	}
	p.depth, p.width = round(a.Cols, 128/p.operand.Bits()), round(p.n, 2)
	if info.Target == "sm_90a" {
		if list := p.hopper(info, a.Transposed, !b.Transposed, a.Cols, o); len(list) > 0 {
			return list, nil
		}
	}
	if fp8(p.operand) {
		return nil, fmt.Errorf("operands of %T require sm_90a, and the device is %s", *new(E),
			info.Target)
	}
	if p.operand == isa.Bf16 && p.result == isa.Bf16 && o.plain() && p.n%8 == 0 {
		p.bf16(info)
		return []*plan{p}, nil
	}
	t := tiling(p.operand, info)
	p.name, p.kernel = "multistage "+p.operand.String()[1:], "matmul_"+p.operand.String()[1:]
	operand := p.operand
	p.build = func(m *dsl.Module) { multistage.Build(m, operand, t) }
	p.direct = p.result == p.sums && o.plain() && p.width == p.n
	p.blocks, err = t.Blocks(p.operand, p.m, p.width, p.depth)
	return []*plan{p}, err
}

// planOf checks the arguments, and returns a plan that contains their types and sizes.
func planOf[D, E runtime.Element](info runtime.Info, d Matrix[D], a, b Matrix[E],
	o Options) (*plan, error) {
	for _, err := range []error{fits("A", a), fits("B", b), fits("D", d)} {
		if err != nil {
			return nil, err
		}
	}
	operand, result := typeOf[E](), typeOf[D]()
	switch {
	case a.Cols != b.Rows || d.Rows != a.Rows || d.Cols != b.Cols:
		return nil, fmt.Errorf("a result of %dx%d is not the product of A of %dx%d and B of %dx%d",
			d.Rows, d.Cols, a.Rows, a.Cols, b.Rows, b.Cols)
	case d.Transposed:
		return nil, fmt.Errorf("the result is stored transposed; multiply B.T() by A.T() instead")
	case info.Capability < 80:
		return nil, fmt.Errorf("%s has no kernel; sm_80 is the first", info.Target)
	case operand == isa.F32 && o.TF32:
		operand = isa.Tf32
	}
	p := &plan{operand: operand, result: result, m: d.Rows, n: d.Cols}
	switch p.sums = multistage.Sums(operand); {
	case operand == 0 || operand == isa.S32:
		return nil, fmt.Errorf("operands of %T are not supported", *new(E))
	case result == 0 || result.Bits() == 8, p.sums == isa.F64 && result.Bits() == 16,
		fp8(operand) && result.Class() != isa.Half && result != isa.F32:
		return nil, fmt.Errorf("a result of %T is not supported for operands of %T", *new(D),
			*new(E))
	case result == isa.S32 && (p.sums != isa.S32 || !o.plain()):
		return nil, fmt.Errorf("a result of %T takes integer operands, Alpha = 1 and Beta = 0",
			*new(D))
	case fp8(operand) && !o.plain():
		return nil, fmt.Errorf("operands of %T take Alpha = 1 and Beta = 0; use ScaleA and ScaleB",
			*new(E))
	case (o.ScaleA == nil) != (o.ScaleB == nil) || o.ScaleA != nil && !fp8(operand):
		return nil, fmt.Errorf("ScaleA and ScaleB are for operands of FP8, and go together")
	}
	return p, nil
}

// fp8 reports whether a type is an FP8 type.
func fp8(t isa.Type) bool { return t == isa.E4m3 || t == isa.E5m2 }

// tiling returns a tiling whose stages fit into the shared memory of a block.
func tiling(t isa.Type, info runtime.Info) multistage.Tiling {
	tiling := multistage.Default(t)
	for bytes := 128 * (tiling.M + tiling.N); bytes*tiling.Stages > info.SharedOptIn &&
		tiling.N > 128; bytes = 128 * (tiling.M + tiling.N) {
		tiling.N /= 2
	}
	return tiling
}

// bf16 sets the kernel of a plan whose result is BF16.
func (p *plan) bf16(info runtime.Info) {
	p.direct = true
	switch target := info.Target; {
	case target == "sm_100a" || target == "sm_103a":
		t := blackwell.Default
		p.name, p.kernel = fmt.Sprintf("blackwell 128x%d", t.N), "matmul"
		p.blocks = min(info.SMs, (p.m+127)/128*((p.n+t.N-1)/t.N))
		p.build = func(m *dsl.Module) { blackwell.Build(m, t) }
	default:
		t := ladder.Default
		version, build := 0, ladder.V0
		if info.Capability >= 90 {
			version, build = 2, ladder.V2
		}
		p.name, p.kernel = fmt.Sprintf("ladder v%d", version), fmt.Sprintf("matmul_v%d", version)
		p.blocks, _ = t.Blocks(p.m, p.n, p.depth) // p.depth and p.n are multiples of eight
		p.build = func(m *dsl.Module) { build(m, t) }
	}
}

// round returns the smallest multiple of to that is not less than n.
func round(n, to int) int { return (n + to - 1) / to * to }

// typeOf returns the PTX type of an element, or 0 for types that matrices cannot have.
func typeOf[E runtime.Element]() isa.Type {
	switch any(*new(E)).(type) {
	case runtime.F16:
		return isa.F16
	case runtime.BF16:
		return isa.Bf16
	case E4M3:
		return isa.E4m3
	case E5M2:
		return isa.E5m2
	}
	switch reflect.TypeFor[E]().Kind() {
	case reflect.Float32:
		return isa.F32
	case reflect.Float64:
		return isa.F64
	case reflect.Int8:
		return isa.S8
	case reflect.Uint8:
		return isa.U8
	case reflect.Int32:
		return isa.S32
	}
	return 0
}

// copyKernel returns the function that builds the kernel to pad or transpose operands of a type.
func copyKernel(kind string, t isa.Type) func(*dsl.Module) {
	pad := kind == "pad"
	switch t.Bits() {
	case 8:
		return either(pad, buildPad[dsl.U8], buildTranspose[dsl.U8])
	case 16:
		return either(pad, buildPad[dsl.B16], buildTranspose[dsl.B16])
	case 32:
		return either(pad, buildPad[dsl.B32], buildTranspose[dsl.B32])
	}
	return either(pad, buildPad[dsl.B64], buildTranspose[dsl.B64])
}

func either(first bool, a, b func(*dsl.Module)) func(*dsl.Module) {
	if first {
		return a
	}
	return b
}

// finishKernel returns the function that builds the kernel to convert sums of a type to a result.
func finishKernel(sums, result isa.Type, old bool) func(*dsl.Module) {
	return func(m *dsl.Module) {
		switch sums {
		case isa.F64:
			finishTo[dsl.F64](m, result, old)
		case isa.S32:
			finishTo[dsl.S32](m, result, old)
		default:
			finishTo[dsl.F32](m, result, old)
		}
	}
}

func finishTo[X dsl.Scalar](m *dsl.Module, result isa.Type, old bool) {
	wide := dsl.TypeOf[X]() == isa.F64
	switch {
	case result == isa.F64:
		buildFinish[X, dsl.F64, dsl.F64](m, old)
	case result == isa.F32 && wide:
		buildFinish[X, dsl.F64, dsl.F32](m, old)
	case result == isa.F32:
		buildFinish[X, dsl.F32, dsl.F32](m, old)
	case result == isa.F16:
		buildFinish[X, dsl.F32, dsl.F16](m, old)
	case result == isa.Bf16:
		buildFinish[X, dsl.F32, dsl.BF16](m, old)
	case result == isa.S32:
		buildFinish[X, dsl.S32, dsl.S32](m, old)
	}
}
