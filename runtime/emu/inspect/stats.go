// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// Stats counts the work of kernels over all launches. It is an observer.
type Stats struct {
	Classes map[string]Count // instructions by class
	Bytes   map[string]Bytes // by state space
	Shared  Accesses         // accesses of warps to shared memory, in wavefronts
	Global  Accesses         // accesses of warps to global memory, in sectors of 32 bytes

	// Operations counts floating-point additions and multiplications: of threads by type, and of
	// tensor cores by instruction and type of A. A fused multiply-add counts as two.
	Operations      map[string]int64
	Multiplications int64 // on tensor cores; sparse products also count the zeros that they skip
	Products        int64 // tensor-core instructions issued
	Asynchronous    Bytes // by TMA, bulk copies and cp.async
	TMA             int64 // bytes that tensor and bulk copies moved

	Barriers  map[string]*Barrier
	SpotLines map[string]*Spot // lines with bank conflicts or uncoalesced accesses

	names   *names
	waiting map[thread]wait
	steps   int64
}

// A Count counts instructions of warps and of threads.
type Count struct{ Warps, Threads int64 }

// Bytes counts bytes read and written.
type Bytes struct{ Read, Written int64 }

// Accesses counts accesses of warps and the parts of memory that they touch. Least is the minimum
// number of parts for the same number of bytes.
type Accesses struct{ Warps, Parts, Least int64 }

// Extra returns the parts beyond the minimum as a fraction of all parts.
func (a Accesses) Extra() float64 {
	if a.Parts == 0 {
		return 0
	}
	return float64(a.Parts-a.Least) / float64(a.Parts)
}

// A Barrier counts the uses of a barrier. Waited is the number of instructions that the grid
// executed while warps waited at the barrier.
type Barrier struct{ Phases, Arrivals, Waits, Waited int64 }

// A Spot is a line whose accesses touch more parts of memory than necessary.
type Spot struct {
	What string // bank conflicts or uncoalesced
	Accesses
}

// A thread is a warp of a block.
type thread struct{ block, warp uint32 }

// A wait is a warp that waits at a barrier.
type wait struct {
	name  string
	since int64
}

// NewStats returns empty statistics.
func NewStats() *Stats {
	return &Stats{
		Classes: make(map[string]Count), Bytes: make(map[string]Bytes),
		Barriers: make(map[string]*Barrier), Operations: make(map[string]int64),
		SpotLines: make(map[string]*Spot), waiting: make(map[thread]wait),
	}
}

// Step counts an instruction.
func (s *Stats) Step(e *emu.Event, state *emu.State) {
	s.steps++
	class := classOf(e.Instr)
	c := s.Classes[class]
	c.Warps++
	c.Threads += int64(bits.OnesCount32(e.Mask))
	s.Classes[class] = c
	s.floating(e)
	if class == "tensor core" {
		if n := multiplications(e.Instr); n > 0 {
			s.multiply(e.Instr, n)
		}
		if products[e.Instr.Form.Form.Kind] {
			s.Products++
		}
	}
	if t := (thread{e.Block, e.Warp}); waitsForPhase(e.Instr) {
		if _, ok := s.waiting[t]; !ok {
			s.waiting[t] = wait{"", s.steps}
		}
	}
	s.private(e)
}

// products are the instruction kinds of tensor-core matrix products.
var products = map[isa.Kind]bool{
	isa.KindMma: true, isa.KindWgmmaMmaAsync: true, isa.KindTcgen05Mma: true,
	isa.KindTcgen05MmaWs: true,
}

// private counts the bytes of loads and stores in state spaces whose accesses are not reported to
// observers, such as local memory.
func (s *Stats) private(e *emu.Event) {
	op := e.Instr.Form.Operation()
	load := op.Kind == isa.KindLd
	if !load && op.Kind != isa.KindSt {
		return
	}
	switch space := op.Space.Base(); space {
	case isa.Local, isa.Param, isa.Const:
		n := int64(bits.OnesCount32(e.Mask)) * int64(op.Type().Bits()/8) * int64(max(op.Vec, 1))
		s.bytes(space, n, load, !load)
	}
}

// bytes adds n bytes to the counts of a state space.
func (s *Stats) bytes(space isa.Space, n int64, read, written bool) {
	name := space.Base().String()
	if name != "" {
		name = name[1:]
	}
	b := s.Bytes[name]
	if read {
		b.Read += n
	}
	if written {
		b.Written += n
	}
	s.Bytes[name] = b
}

// Observe counts an event.
func (s *Stats) Observe(e *emu.Event) {
	switch e.Kind {
	case emu.EventBegin:
		s.names = namesOf(e.Launch)
		clear(s.waiting)
	case emu.EventRead, emu.EventWrite, emu.EventAtomic:
		s.access(e)
	case emu.EventProduct:
		s.multiply(e.Instr, e.Count)
	case emu.EventArrive, emu.EventMeet, emu.EventLeave, emu.EventSignal, emu.EventPhase,
		emu.EventTest,
		emu.EventClusterArrive, emu.EventClusterMeet, emu.EventClusterLeave:
		s.barrier(e)
	}
}

// access counts an access to global or shared memory.
func (s *Stats) access(e *emu.Event) {
	read, written := e.Kind != emu.EventWrite, e.Kind != emu.EventRead
	if e.Operation != 0 {
		n := int64(e.Size) * int64(bits.OnesCount32(e.Mask))
		if read {
			s.Asynchronous.Read += n
		}
		if written {
			s.Asynchronous.Written += n
		}
		if written && isCopy(e.Instr) && e.Proxy == emu.ProxyAsync {
			s.TMA += n
		}
	}
	for m := e.Mask; m != 0; m &= m - 1 {
		s.bytes(e.At[bits.TrailingZeros32(m)].Space, int64(e.Size), read, written)
	}
	if e.Operation != 0 || e.Mask == 0 {
		return
	}
	switch e.At[bits.TrailingZeros32(e.Mask)].Space {
	case isa.Shared:
		s.count(e, &s.Shared, "bank conflicts", wavefronts(e))
	case isa.Global:
		s.count(e, &s.Global, "uncoalesced", sectors(e))
	}
}

// isCopy reports whether an instruction is a bulk or tensor copy.
func isCopy(in *ir.Instr) bool {
	if in == nil || in.Form == nil {
		return false
	}
	switch in.Form.Form.Kind {
	case isa.KindCpAsyncBulk, isa.KindCpReduceAsyncBulk, isa.KindCpAsyncBulkTensor,
		isa.KindCpReduceAsyncBulkTensor:
		return true
	}
	return false
}

// count adds an access of a warp, and records the line if it touches more parts than necessary.
func (s *Stats) count(e *emu.Event, all *Accesses, what string, a Accesses) {
	all.add(a)
	if a.Parts == a.Least || e.Instr == nil {
		return
	}
	line := s.names.line(e) + ": " + e.Instr.Op
	spot := s.SpotLines[line]
	if spot == nil {
		spot = &Spot{What: what}
		s.SpotLines[line] = spot
	}
	spot.add(a)
}

func (a *Accesses) add(b Accesses) {
	a.Warps += b.Warps
	a.Parts += b.Parts
	a.Least += b.Least
}

// wavefronts returns how many wavefronts an access to shared memory takes. In each, every one of
// the 32 banks serves one 4-byte word. Accesses of 8 and 16 bytes are split into half warps and
// quarter warps.
func wavefronts(e *emu.Event) Accesses {
	a := Accesses{Warps: 1}
	group := emu.Lanes
	if words := int(e.Size / 4); words > 1 {
		group = max(1, emu.Lanes/words)
	}
	for first := 0; first < emu.Lanes; first += group {
		if e.Mask>>first&(1<<group-1) == 0 {
			continue
		}
		banks := make(map[[2]uint64]map[uint64]bool) // by block and bank
		most := 0
		for l := first; l < first+group; l++ {
			if e.Mask>>l&1 == 0 {
				continue
			}
			at := e.At[l]
			for w := at.At / 4; w*4 < at.At+e.Size; w++ {
				bank := [2]uint64{uint64(at.Block), w % 32}
				if banks[bank] == nil {
					banks[bank] = make(map[uint64]bool)
				}
				banks[bank][w] = true
				most = max(most, len(banks[bank]))
			}
		}
		a.Parts += int64(most)
		a.Least++
	}
	return a
}

// sectors returns how many 32-byte sectors an access to global memory touches. The minimum is the
// number of sectors that can hold the same distinct bytes.
func sectors(e *emu.Event) Accesses {
	const sector = 32
	touched, words := make(map[uint64]bool), make(map[uint64]bool)
	for m := e.Mask; m != 0; m &= m - 1 {
		at := e.At[bits.TrailingZeros32(m)].At
		words[at] = true
		for x := at / sector; x*sector < at+e.Size; x++ {
			touched[x] = true
		}
	}
	least := (int64(len(words))*int64(e.Size) + sector - 1) / sector
	return Accesses{Warps: 1, Parts: int64(len(touched)), Least: min(least, int64(len(touched)))}
}
