// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// A tensorProduct is a decoded tcgen05.mma.
type tensorProduct struct {
	arch                             tensorcore.Arch
	number                           int // number of the target
	kind, vectors                    isa.Mod
	group                            tensorGroup
	stationary, sparse, scaled       bool
	shifted, inTensor                bool
	d, aAddress, meta, sfa, sfb      addressRef
	aDescriptor, b, descriptor, adds ref
	lanes                            []ref // mask of lanes of D that are not written
	zeroes                           *ref  // columns of B that are treated as zeros
	divide                           int   // D is divided by two to this power
	hint                             collectorHint
}

// tensorMMA decodes tcgen05.mma and tcgen05.mma.ws.
func tensorMMA(d *decoder) (step, error) {
	op := d.operation()
	number := d.image.module.ir.Target.Info().Number
	t := &tensorProduct{
		arch: d.image.module.arch(), number: number, group: d.tensorGroup(),
		sparse:     op.Has(isa.ModSp),
		stationary: op.Kind == isa.KindTcgen05MmaWs, scaled: op.Has(isa.ModBlockScale),
		shifted: op.Has(isa.ModAshift),
	}
	for _, m := range op.Mods() {
		hint, hints := collectorHintOf(m)
		switch {
		case tensorcore.KindName(m) != "":
			t.kind = m
		case tensorcore.FactorsOf(m) > 0, m == isa.ModBlock16, m == isa.ModBlock32:
			t.vectors = m
		case hints:
			t.hint = hint
		}
	}
	return t.run, t.operands(d)
}

// operands decodes the operands in the order of the PTX manual.
func (t *tensorProduct) operands(d *decoder) error {
	args := d.in.Args
	address := func(to *addressRef) (err error) {
		if len(args) == 0 || args[0].Kind != ir.Address {
			return fmt.Errorf("%s with these operands is not emulated yet", d.in.Op)
		}
		*to, err = d.addressOf(&args[0])
		args = args[1:]
		return err
	}
	scalar := func(to *ref) error {
		if len(args) == 0 || args[0].Kind == ir.Address {
			return fmt.Errorf("%s with these operands is not emulated yet", d.in.Op)
		}
		*to = d.flatten(nil, &args[0])[0]
		args = args[1:]
		return nil
	}
	steps := []func() error{func() error { return address(&t.d) }}
	if t.inTensor = len(args) > 1 && args[1].Kind == ir.Address; t.inTensor {
		steps = append(steps, func() error { return address(&t.aAddress) })
	} else {
		steps = append(steps, func() error { return scalar(&t.aDescriptor) })
	}
	steps = append(steps, func() error { return scalar(&t.b) })
	if t.sparse {
		steps = append(steps, func() error { return address(&t.meta) })
	}
	steps = append(steps, func() error { return scalar(&t.descriptor) })
	if t.scaled {
		steps = append(steps, func() error { return address(&t.sfa) },
			func() error { return address(&t.sfb) })
	}
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	if len(args) > 0 && args[0].Kind == ir.Vector {
		t.lanes = d.flatten(nil, &args[0])
		args = args[1:]
	}
	if err := scalar(&t.adds); err != nil {
		return err
	}
	switch {
	case len(args) == 0 || t.kind == isa.ModKindI8 && !t.stationary:
	case t.stationary:
		t.zeroes = new(ref)
		return scalar(t.zeroes)
	default:
		t.divide = int(args[0].Value)
	}
	return nil
}

// run issues the matrix products of the lanes of a mask.
func (t *tensorProduct) run(w *warp, mask uint32) action {
	blocks, why := t.group.running(w)
	if why != "" {
		return w.fault(-1, nil, "%s", why)
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		j := &tensorJob{tensorProduct: t, w: w, blocks: blocks}
		if why := j.capture(l); why != "" {
			return w.fault(l, nil, "%s", why)
		}
		if w.observing() {
			e := w.event(EventProduct, 1<<l)
			e.Count = int64(j.in.M) * int64(j.in.N) * int64(j.in.K)
			w.block.grid.observer.Observe(e)
		}
		if act := w.issueTensor(l, j.run); act != advance {
			return act
		}
	}
	return advance
}

// A tensorJob is a matrix product that was issued and is not complete, with the values of its
// operands.
type tensorJob struct {
	*tensorProduct
	w             *warp
	blocks        []*block
	in            *tensorcore.Instruction
	product       *tensorcore.Product
	path          tensorcore.Path
	at            uint32 // address of D
	left          uint64 // descriptor or address of A
	right         uint64
	places        uint32 // address of the sparsity metadata
	factorA       uint32 // addresses of scale factors
	factorB       uint32
	accumulates   bool
	off           [8]uint32 // mask of lanes that are not written
	zero          tensorcore.ZeroColumns
	ma, mb        tensorcore.Matrix
	base, rows, n int // first lane of D; rows per block; columns of B per block
}

// capture reads the operands of a lane. It returns an error message if they are invalid, or "".
func (j *tensorJob) capture(l int) string {
	w := j.w
	one := func(r *ref) uint64 { return w.value(r, &w.scratch[0])[l] }
	descriptor := uint32(one(&j.descriptor))
	in, p, err := w.block.cluster.products.of(j.tensorProduct, descriptor)
	if err != nil {
		return err.Error()
	}
	j.in, j.product = in, p
	if in.Sparse != j.sparse {
		return fmt.Sprintf(
			"instruction descriptor 0x%08x: the sparsity flag is %v, but that of the opcode is %v",
			descriptor, in.Sparse, j.sparse)
	}
	if why := j.fits(); why != "" {
		return fmt.Sprintf("instruction descriptor 0x%08x: %s", descriptor, why)
	}
	if j.path, err = tensorcore.PathOf(in.M, j.group.pair, j.sparse, j.stationary); err != nil {
		return err.Error()
	}
	j.rows, j.n = j.path.Rows(in.M), in.N/len(j.blocks)
	j.at, j.right = w.pointer(&j.d, l), one(&j.b)
	if j.mb, err = tensorcore.DecodeBlackwell(j.right); err != nil {
		return err.Error()
	}
	if j.inTensor {
		j.left = uint64(w.pointer(&j.aAddress, l))
	} else {
		j.left = one(&j.aDescriptor)
		if j.ma, err = tensorcore.DecodeBlackwell(j.left); err != nil {
			return err.Error()
		}
	}
	if j.sparse {
		j.places = w.pointer(&j.meta, l)
	}
	if j.scaled {
		j.factorA, j.factorB = w.pointer(&j.sfa, l), w.pointer(&j.sfb, l)
	}
	j.accumulates = w.truth(&j.adds)>>l&1 != 0
	for i := range j.lanes {
		j.off[i] = uint32(one(&j.lanes[i]))
	}
	if j.zeroes != nil {
		j.zero = tensorcore.ZeroColumnsOf(one(j.zeroes), in.M, in.N)
	}
	if why := j.aligned(); why != "" {
		return why
	}
	return w.block.collectors.use(j.hint, j.left, j.right)
}

// aligned returns an error message if an address names a lane that the instruction does not
// support, or "".
func (j *tensorJob) aligned() string {
	j.base = laneOf(j.at)
	half := j.path == tensorcore.PathC || j.path == tensorcore.PathF
	if j.base != 0 && !(half && j.base == 16) {
		return fmt.Sprintf(
			"D starts at lane %d of tensor memory, expected lane 0%s for this layout", j.base,
			map[bool]string{true: " or 16"}[half])
	}
	if j.inTensor && laneOf(uint32(j.left)) != j.base {
		return fmt.Sprintf(
			"A starts at lane %d of tensor memory but D at lane %d, expected the same lane",
			laneOf(uint32(j.left)), j.base)
	}
	if j.sparse && laneOf(j.places) != j.base {
		return fmt.Sprintf(
			"sparsity metadata starts at lane %d of tensor memory but D at lane %d, expected the same lane",
			laneOf(j.places), j.base)
	}
	return ""
}

// fits returns an error message if the kind of the instruction does not support the shape, or "".
func (j *tensorJob) fits() string {
	o, kind := j.in, tensorcore.KindName(j.kind)
	switch {
	case j.stationary:
		if !j.stationaryFits() {
			return fmt.Sprintf("kind %s with .ws has no shape m%dn%d", kind, o.M, o.N)
		}
		return ""
	case !j.rowsFit() || !j.columnsFit():
		return fmt.Sprintf("kind %s has no shape m%dn%d for %d blocks", kind, o.M, o.N,
			len(j.blocks))
	case o.K == 96 && j.number < 103:
		return "a depth of 96 needs sm_103a"
	case o.Packed && (o.AcrossA || o.AcrossB):
		return "elements of four bits cannot be transposed in kind " + kind
	case j.shifted && o.M == 64:
		return ".ashift needs 128 or 256 rows"
	case j.scaled:
		return j.factorsFit()
	}
	return ""
}

// stationaryFits reports whether a weight-stationary product with the shape of j exists.
func (j *tensorJob) stationaryFits() bool {
	switch j.in.M {
	case 32, 64, 128:
		return j.in.N == 64 || j.in.N == 128 || j.in.N == 256 && !j.in.Sparse
	}
	return false
}

// rowsFit reports whether the number of rows M is supported.
func (j *tensorJob) rowsFit() bool {
	if j.group.pair {
		return j.in.M == 256 || j.in.M == 128 && !(j.scaled && j.in.Sparse)
	}
	return j.in.M == 128 || j.in.M == 64 && !j.scaled
}

// columnsFit reports whether N is supported: a multiple of a step that depends on the kind, of at
// most 256.
func (j *tensorJob) columnsFit() bool {
	n, pair := j.in.N, j.group.pair
	step, least := 8, 8
	switch {
	case (j.kind == isa.ModKindI8 || j.kind == isa.ModKindTi16) && pair:
		step, least = 32, 32
	case j.kind == isa.ModKindI8 && n > 32:
		step = 16
	case pair, j.in.M == 128 && !j.scaled && j.kind != isa.ModKindI8:
		step, least = 16, 16
	}
	return n >= least && n <= 256 && n%step == 0
}

// factorsFit returns an error message if the instruction cannot select the scale factors, or "".
func (j *tensorJob) factorsFit() string {
	o := j.in
	depth := o.K
	if o.Sparse {
		depth /= 2
	}
	vector := o.Vector
	if o.Sparse {
		vector /= 2
	}
	each := depth / vector
	if want := tensorcore.FactorsOf(j.vectors); want != 0 && want != each && depth != 96 {
		return fmt.Sprintf("%s does not match the kind: each row has %d scale factors",
			j.vectors.String()[1:], each)
	}
	if depth == 96 {
		if each = 1; vector == 16 {
			each = 2
		}
	}
	if o.FactorA%each != 0 || o.FactorB%each != 0 {
		return fmt.Sprintf(
			"scale factors start at bytes %d and %d, expected multiples of the %d that an instruction reads",
			o.FactorA, o.FactorB, each)
	}
	return ""
}
