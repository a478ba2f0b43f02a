// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Sizes and addresses of bulk copies must be multiples of 16 bytes. Tensor copies must be aligned
// to 128 bytes in shared memory.
const (
	bulkUnit   = 16
	tensorUnit = 128
)

// checkOperands checks sizes, addresses and bounds of the bulk copy of event e.
func checkOperands(p *verify.Pass, t *trace.Trace, e *trace.Event) {
	tensor := verify.Tensor(e.In)
	if _, known := p.Copied(e); known {
		checkBounds(p, t, e)
	}
	if past, of := residue(p, verify.Val(e, 2), bulkUnit, *e.Threads); !tensor && past != 0 {
		if n, known := verify.Number(e, 2); known {
			p.Report(&ruleBytes, e.In, "size of a bulk copy is %d bytes, expected a multiple of %d",
				n, bulkUnit)
		} else {
			p.Report(&ruleBytes, e.In,
				"size of a bulk copy exceeds a multiple of %d by %d bytes, expected a multiple of %d",
				of, past, bulkUnit).On(t, 0)
		}
	}
	for n := range 2 {
		i := verify.Address(e.In, n)
		v := verify.Val(e, i)
		switch {
		case v == nil:
		case !tensor:
			checkAlignment(p, t, e, i, bulkUnit)
		case (n == 0) == (e.Kind == trace.BulkLoad):
			checkAlignment(p, t, e, i, tensorUnit)
		}
	}
}

// checkBounds checks that the shared memory that a bulk copy accesses lies inside the variable
// from which its address is derived.
func checkBounds(p *verify.Pass, t *trace.Trace, e *trace.Event) {
	for _, r := range append(p.Reads(e), p.Writes(e)...) {
		in := r.Var()
		if size := in.Size(); r.Sure && size > 0 &&
			(r.Low < 0 || r.High > size && !verify.Open(in)) {
			p.Report(&ruleBytes, e.In, "out-of-bounds bulk copy: it accesses bytes %d to %d of "+
				"%s, which has %d bytes", r.Low, r.High-1, in.Name, size).On(t, 0)
			return
		}
	}
}

// checkAlignment checks that the address in operand i is aligned to n bytes.
func checkAlignment(p *verify.Pass, t *trace.Trace, e *trace.Event, i int, n int64) {
	what := "a bulk copy"
	if n == tensorUnit {
		what = "a tensor copy"
	}
	v := verify.Val(e, i)
	past, of := residue(p, v, n, *e.Threads)
	if past != 0 {
		p.Report(&ruleBytes, e.In, "misaligned operand %d of %s: it is %d bytes past a multiple "+
			"of %d, expected an address aligned to %d", i+1, what, past, of, n).On(t, 0)
		return
	}
	// A variable that is declared with a smaller alignment may still be allocated at an aligned
	// address.
	for _, term := range v.Terms {
		in, _ := term.Atom.Ref.(*ir.Var)
		if term.Atom.Op != value.OpVariable || in == nil || in.Space != isa.Shared ||
			in.Linkage == ".extern" || verify.Open(in) || term.Factor != 1 ||
			int64(in.Alignment()) >= n {
			continue
		}
		if past, of := residue(p, p.Pool.Sub(64, v, p.Pool.Alone(term.Atom)), n,
			*e.Threads); past == 0 && of == n {
			p.Report(&ruleBytes, e.In, "operand %d of %s is in %s, which is declared with .align "+
				"%d, expected an address aligned to %d", i+1, what, in.Name, in.Alignment(), n).
				As(diag.Review)
		}
	}
}

// residue returns v modulo of for the first thread for which the remainder is not zero. The
// modulus of is n, or the largest power of two below n for which the remainder is known.
func residue(p *verify.Pass, v *value.Value, n int64, s value.Set) (past, of int64) {
	if v == nil {
		return 0, 1
	}
	own := p.Pool.Const(64, v.K)
	known := bits.TrailingZeros64(uint64(n))
	for _, term := range v.Terms {
		if term.Atom.Tid {
			own = p.Pool.Add(64, own, p.Pool.Scale(64, p.Pool.Alone(term.Atom), term.Factor))
		} else {
			known = min(known, bits.TrailingZeros64(uint64(term.Factor))+int(term.Atom.Zeros))
		}
	}
	s.Each(func(thread int) {
		if past == 0 {
			past = p.Pool.At(own, thread) & (1<<known - 1)
		}
	})
	return past, 1 << known
}

// A base identifies the value to which a global address is relative, among paths with the same
// substituted values.
type base struct {
	of  *value.Value
	set int // index of the set of substituted values
}

// compareDistance compares the global address of a bulk copy with the address of the first copy
// that has the same base. If their distance is not a multiple of 16, one of the two addresses is
// misaligned, but it is unknown which.
func compareDistance(p *verify.Pass, t *trace.Trace, e *trace.Event, firsts map[base]*trace.Event) {
	n := 1
	if e.Kind == trace.BulkStore {
		n = 0
	}
	v := verify.Val(e, verify.Address(e.In, n))
	if v == nil || v.Const() || v.Tid() || verify.Tensor(e.In) {
		return
	}
	k := base{p.Pool.Sub(64, v, p.Pool.Const(64, v.K)), t.Facts.ConstantSet()}
	first := firsts[k]
	if first == nil {
		firsts[k] = e
		return
	}
	m := 1
	if first.Kind == trace.BulkStore {
		m = 0
	}
	if was := verify.Val(first, verify.Address(first.In, m)); (v.K-was.K)%bulkUnit != 0 {
		p.Report(&ruleBytes, e.In, "two bulk copies access global memory %d bytes apart, "+
			"expected a multiple of %d: at least one of them is misaligned", v.K-was.K, bulkUnit).
			Also(first.In, "the other copy").On(t, 0)
	}
}
