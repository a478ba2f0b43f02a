// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Variants returns one test configuration for each case, and for each function of the host.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, c := range Cases() {
		targets := []string{c.Target}
		switch {
		case c.Sync:
			targets = append(targets, "sm_121a")
		case c.Target == "sm_100a":
			targets = append(targets, "sm_103a")
		}
		list = append(list, kerneltest.Variant{
			Option: c.option(), Name: c.Name, Targets: targets, Build: c.Build, Why: c.why(),
			Check: func(t *kerneltest.T) error { return c.checkAll(t) },
		})
	}
	return append(list, hostVariants()...)
}

// checkAll runs the case with all sizes for the device.
func (c Case) checkAll(t *kerneltest.T) error {
	for _, g := range c.sizes(t) {
		if err := c.Check(t, g); err != nil {
			return err
		}
	}
	return nil
}

// why returns the reason for the tolerance of the case.
func (c Case) why() string {
	if c.Epilogue.D == isa.Bf16 {
		return "the result is rounded to BF16, and sums are truncated to F32"
	}
	return "the result may be as far away as the nearest number of its type"
}

// option returns the name of the option that the case tests, as in the table of variants.
func (c Case) option() string {
	f, t := c.Format, c.Tiling
	switch {
	case c.Sync && f.Sparse:
		return "sparse block-scaled mma.sync of sm_120a and sm_121a"
	case c.Sync:
		return "block-scaled mma.sync of sm_120a and sm_121a"
	case f.Deep:
		return "K = 96 instructions of sm_103a"
	case t.Overlap:
		return "overlapping accumulators: N of 256 keeps two results in TMEM"
	case t.Async:
		return "scale factors by cp.async below the TMA threshold"
	case t.Dynamic:
		return "cluster launch control with a scheduler warp"
	case t.Problems == Batched:
		return "batched problems"
	case t.Problems == Grouped:
		return "grouped problems"
	case t.ColumnsA || t.ColumnsB:
		return "MN-major A and B"
	case c.Epilogue.C:
		return "C and D with alpha and beta"
	case c.Epilogue.Scale.Vector > 0 || c.Epilogue.Name != "":
		return "output types with generated scales: nvfp4, mxfp8, mxfp6"
	case strings.Contains(c.Name, "_pair_n"):
		return "N of 64, 128, 192 and 256 on two SMs"
	case strings.Contains(c.Name, "_n"):
		return "N of 64, 128, 192 and 256 on one SM"
	}
	return f.option()
}

// option returns the name of the option that the format belongs to, as in the table of variants.
func (f Format) option() string {
	same := f.A == f.B
	switch {
	case f.Sparse && same && f.A.Bits() == 6:
		return "sparse mxfp6"
	case f.Sparse && same:
		return "sparse mxfp8, mxfp4 and nvfp4"
	case f.Sparse:
		return "sparse mixed types"
	case f.A == isa.E5m2 || f.B == isa.E5m2:
		return "e5m2 operands"
	case same && (f.Packed || f.A != isa.E2m1):
		return "mxfp8, mxfp6, mxfp4 and nvfp4"
	}
	return "every legal mxf8f6f4 pair"
}

// hostVariants returns the test configurations for functions that run on the host. Each one runs
// a kernel with the results of such a function.
func hostVariants() []kerneltest.Variant {
	tiling := Tiling{N: 128, Stages: 2, Group: 8}
	var list []kerneltest.Variant
	add := func(option string, f Format, check func(Case, *kerneltest.T) error) {
		c := Case{Name: f.Name, Format: f, Tiling: tiling, Epilogue: bfloat}
		list = append(list, kerneltest.Variant{
			Option: option, Name: f.Name, Targets: []string{"sm_100a"}, Why: c.why(),
			Build: c.Build,
			Check: func(t *kerneltest.T) error { return check(c, t) },
		})
	}
	size := func(c Case) kerneltest.GEMM { return c.round(kerneltest.GEMM{M: 45, N: 80, K: 400}) }
	for _, option := range []string{
		"quantizers on the host, reference and fast", "scale factor layout converters on the host",
		"packers on the host",
	} {
		for _, f := range []Format{nvfp4, mxfp4, mxfp6, mxfp8} {
			add(option, f, func(c Case, t *kerneltest.T) error {
				return c.checkQuantized(t, size(c))
			})
		}
	}
	add("TMEM plan printed by the builder", nvfp4, func(c Case, t *kerneltest.T) error {
		if err := checkPlan(); err != nil {
			return err
		}
		return c.Check(t, size(c))
	})
	return list
}

// checkQuantized quantizes F32 matrices, checks that the packed elements and the scale factors
// can be converted back, and multiplies the matrices.
func (c Case) checkQuantized(t *kerneltest.T, g kerneltest.GEMM) error {
	k, err := t.Kernel(c.kernel(), c.Build)
	if err != nil {
		return err
	}
	var all [2]Numbers
	for i, rows := range []int{g.M, g.N} {
		values := t.Float32s(rows * g.K)
		n := Quantize(values, c.Format.A, c.Format.Scale, rows, g.K)
		reference := QuantizeReference(values, c.Format.A, c.Format.Scale, rows, g.K)
		switch {
		case !slices.Equal(n.Codes, reference.Codes) || !slices.Equal(n.Factors, reference.Factors):
			return fmt.Errorf("%s: the quantizers differ", c.Name)
		case !slices.Equal(Unpack(n.Packed(), n.Type, len(n.Codes)), n.Codes):
			return fmt.Errorf("%s: the packed elements differ", c.Name)
		case !slices.Equal(ScaleRows(n.ScaleAtoms(), n.Scale, rows, g.K), n.Factors):
			return fmt.Errorf("%s: the scale factors differ", c.Name)
		}
		all[i] = n
	}
	a, b := all[0], all[1]
	d := c.Epilogue.output(g.M * g.N)
	known := map[string]any{
		"m": g.M, "n": g.N, "k": g.K, "a": a.argument(false), "b": b.argument(false),
		"sfa": scaleWords(a), "sfb": scaleWords(b), "d": d.array.Tensor(g.M, g.N),
	}
	var args []any
	for _, p := range k.Params() {
		args = append(args, known[p.Name])
	}
	if err := t.Launch(k, c.grid(t, g, 1), args...); err != nil {
		return err
	}
	return c.compare(t, g, []part{{0, g.M, 0}}, a, b, make([]float64, g.M*g.N), d.at, nil)
}

// plan is the expected table of the tensor memory that nvfp4 uses with overlapping accumulators.
const plan = `tensor memory of matmul_nvfp4: 496 of 512 columns used, 512 allocated
columns   0 to 255: acc, accumulator 0
columns 192 to 447: acc, accumulator 1, shares its first 64 columns
columns 448 to 463: acc, scale factors of A
columns 464 to 495: acc, scale factors of B
`

// checkPlan compares the table of a kernel with plan.
func checkPlan() error {
	if got := Plan(nvfp4, Tiling{N: 256, Stages: 2, Group: 8, Overlap: true}); got != plan {
		return fmt.Errorf("the plan of tensor memory is\n%swant\n%s", got, plan)
	}
	return nil
}

// Plan returns a table of the columns of tensor memory that a kernel uses.
func Plan(f Format, t Tiling) string {
	return buildKernel(dsl.New("plan", "sm_103a"), f, t, bfloat).TMEMPlan()
}
