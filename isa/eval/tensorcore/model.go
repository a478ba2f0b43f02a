// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

// An Arch selects how tensor cores round and add. The models are taken from the MMA-Sim reference
// (arXiv 2511.10909), whose authors compared them with hardware.
type Arch uint8

// Architectures of tensor cores.
const (
	Exact        Arch = iota // float64 sums, rounded once to nearest: for debugging
	Volta                    // sm_70
	Turing                   // sm_75
	Ampere                   // sm_80, sm_86, sm_87
	Ada                      // sm_89
	Hopper                   // sm_90
	Blackwell                // sm_100, sm_103, sm_110
	BlackwellRTX             // sm_120 and later
)

// ArchOf returns the architecture of a target by its number, such as 90 for sm_90a.
func ArchOf(sm int) Arch {
	switch {
	case sm < 75:
		return Volta
	case sm < 80:
		return Turing
	case sm < 89:
		return Ampere
	case sm < 90:
		return Ada
	case sm < 100:
		return Hopper
	case sm < 120:
		return Blackwell
	}
	return BlackwellRTX
}

// A model describes the additions of one instruction.
type model struct {
	exact    bool
	fraction int32 // fraction bits that aligned terms keep
	steps    int   // fused sums along K, each rounded
	kept     int   // fraction bits that an f32 result keeps
	group    int   // number of products that are added exactly before scaling, or 0
	widened  bool  // eight-bit elements are multiplied as f16 in two halves; see dotWidened
}

// warpModel returns the model of mma.sync for an element type and depth k.
func warpModel(a Arch, e *Element, k int) model {
	m := model{fraction: 25, steps: 1, kept: 23}
	eight := e.Bits <= 8
	switch a {
	case Exact:
		m.exact = true
	case Volta:
		m.fraction = 23
	case Hopper, Blackwell:
		m.widened = eight && !e.Integer
	case Turing, Ampere, Ada:
		m.fraction = 24
		if a != Turing && (e == TF32 && k == 8 || e.Bits == 16 && k == 16 || eight && k == 32) {
			m.steps = 2
		}
		if a == Ada && eight {
			m.fraction, m.kept = 13, 13
		}
	}
	return m
}

// groupModel returns the rounding model of wgmma and tcgen05 for elements of type e.
func groupModel(a Arch, e *Element) model {
	m := model{exact: a == Exact, fraction: 25, steps: 1, kept: 23}
	if a == Hopper && e.Bits <= 8 {
		m.fraction, m.kept = 13, 13
	}
	return m
}

// fourBitModel returns the model of block-scaled products of packed e2m1.
func fourBitModel(a Arch) model {
	return model{exact: a == Exact, fraction: 35, steps: 1, kept: 23, group: 16}
}
