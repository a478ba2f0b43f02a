// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// counts returns the values to try for integer parameters, in order. In one trial, all parameters
// have the same value: the number of threads of the grid, the number of threads of a block, or a
// small or odd number.
func (k *kernel) counts() []uint64 {
	sizes := 0
	for _, p := range k.leaves {
		if _, given := k.given(p); p.isSize() && !given {
			sizes++
		}
	}
	if sizes == 0 {
		return []uint64{0}
	}
	s := &k.shape
	block := uint64(s.Block[0] * s.Block[1] * s.Block[2])
	first := k.width()
	if sizes > 2 {
		first = min(first, maxFirstTrial)
	}
	return []uint64{first, 3, block, 256, 64, 1, 8, 16, 128, 1000}
}

// width returns the number of threads of the grid, or those of one row of blocks of two dimensions
// if the kernel does not require them.
func (k *kernel) width() uint64 {
	s := &k.shape
	if k.guessedBlock && s.Block[1] > 1 {
		return uint64(s.Block[0]) * uint64(s.Grid[0])
	}
	return uint64(s.Block[0]*s.Block[1]*s.Block[2]) * uint64(s.Grid[0])
}

// ordinary reports whether count is a positive multiple of 16. Kernels often require such
// multiples of their tile size without checking, so failures with other counts are weak evidence.
func ordinary(count uint64) bool { return count > 0 && count%16 == 0 }

// isSize reports whether the parameter is an integer whose value is the count of the trial.
func (p *param) isSize() bool {
	return p.kind == paramCount && p.stride == nil && len(p.boxes) == 0 && !p.unused
}

// maxTrips limits the iterations of loops of matrix products, which take long to emulate. It is
// more than two passes over the usual rings of stages.
const maxTrips = 24

// integer returns the value of an integer parameter for a trial with the given count.
func (k *kernel) integer(p *param, count uint64) uint64 {
	if n, ok := k.given(p); ok {
		return n
	}
	if len(p.boxes) > 0 {
		return k.expectedBytes(p)
	}
	if p.stride != nil {
		return p.stride.value(max(count, min(k.width(), maxFirstTrial)))
	}
	if p.step > 0 {
		return min(count, p.step*maxTrips)
	}
	return count
}

// value returns the bytes of a scalar parameter for a trial with the given count.
func (k *kernel) value(p *param, count uint64) []byte {
	count = k.integer(p, count)
	b := make([]byte, 8)
	switch p.typ {
	case isa.F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(1.5))
	case isa.F64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(1.5))
	case isa.F16:
		binary.LittleEndian.PutUint16(b, 0x3e00)
	case isa.Bf16:
		binary.LittleEndian.PutUint16(b, 0x3fc0)
	default:
		binary.LittleEndian.PutUint64(b, count)
	}
	return b[:min(8, p.size)]
}

// describe returns a description of the launch for messages.
func (k *kernel) describe(count uint64) string {
	s := &k.shape
	text := fmt.Sprintf("%dx%dx%d blocks of %dx%dx%d threads", s.Grid[0], s.Grid[1], s.Grid[2],
		s.Block[0], s.Block[1], s.Block[2])
	if s.Cluster[0] != 0 {
		text += fmt.Sprintf(" in clusters of %dx%dx%d", s.Cluster[0], s.Cluster[1], s.Cluster[2])
	}
	if s.Shared != 0 {
		text += fmt.Sprintf(", %d bytes of dynamic shared memory", s.Shared)
	}
	for i, p := range k.params {
		if i < len(s.Args) {
			text += fmt.Sprintf(", %s = %s", k.shortName(p), s.Args[i].Text)
		}
	}
	if len(s.Args) > 0 {
		return text
	}
	for _, p := range k.leaves {
		switch {
		case p.unused:
		case p.kind == paramCount:
			text += fmt.Sprintf(", %s = %d", k.shortName(p), k.integer(p, count))
		case p.kind == paramFloat:
			text += fmt.Sprintf(", %s = 1.5", k.shortName(p))
		case p.kind == paramPointer:
			text += fmt.Sprintf(", %s = an array of zeros", k.shortName(p))
		case p.kind == paramMap:
			text += fmt.Sprintf(", %s = %s", k.shortName(p), k.mapText(p))
		}
	}
	return text
}

// shortName returns the name of a parameter without the name of the kernel, which compilers repeat
// in it. The name of a field has its offset in the structure.
func (k *kernel) shortName(p *param) string {
	name := p.v.Name
	if short, repeated := strings.CutPrefix(name, k.fn.Name+"_"); repeated && short != "" {
		name = short
	}
	if isStructure(p.v) && p.kind != paramBytes && p.field.v != nil {
		name += fmt.Sprintf("[%d]", p.field.at)
	}
	return name
}
