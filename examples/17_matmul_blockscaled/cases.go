// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Case is a kernel that the tests build, verify, assemble and run: a format, a tiling and an
// epilogue.
type Case struct {
	Name     string
	Format   Format
	Tiling   Tiling
	Epilogue Epilogue
	Sync     bool   // BuildSync
	Ignored  bool   // beta is zero, and C has only NaN
	Target   string // the first target that has the kernel
}

// bfloat is the epilogue that stores BF16.
var bfloat = Epilogue{D: isa.Bf16}

// Cases returns the test cases for all options of the kernels.
func Cases() []Case {
	var list []Case
	add := func(name string, f Format, t Tiling, e Epilogue) {
		target := "sm_100a"
		if f.Deep {
			target = "sm_103a"
		}
		list = append(list,
			Case{Name: f.Name + name, Format: f, Tiling: t, Epilogue: e, Target: target})
	}
	one := Tiling{N: 64, Stages: 2, Group: 8}
	for _, f := range SyncFormats() {
		add("", f, one, bfloat)
	}
	for _, f := range []Format{nvfp4, mxfp4, mxfp6, mxfp8, mxfp8x4, nvfp4.Zeros(), mxfp6.Zeros(),
		mxfp8x4.Zeros()} {
		add("_pair", f, Tiling{N: 128, Stages: 2, Group: 8, Pair: true}, bfloat)
	}
	for _, f := range []Format{nvfp4, mxfp8} {
		for _, n := range []int{64, 128, 192, 256} {
			add(fmt.Sprintf("_n%d", n), f, Tiling{N: n, Stages: 2, Group: 8}, bfloat)
			add(fmt.Sprintf("_pair_n%d", n), f, Tiling{N: n, Stages: 2, Group: 8, Pair: true},
				bfloat)
		}
		add("_overlap", f, Tiling{N: 256, Stages: 2, Group: 8, Overlap: true}, bfloat)
		add("_overlap_pair", f, Tiling{N: 256, Stages: 2, Group: 8, Pair: true, Overlap: true},
			bfloat)
		add("_async_scales", f, Tiling{N: 128, Stages: 2, Group: 8, Async: true}, bfloat)
		add("_dynamic", f, Tiling{N: 128, Stages: 2, Group: 8, Dynamic: true}, bfloat)
		add("_dynamic_pair", f, Tiling{N: 128, Stages: 2, Group: 8, Pair: true, Dynamic: true},
			bfloat)
		add("_batched", f, Tiling{N: 64, Stages: 2, Group: 8, Problems: Batched}, bfloat)
		add("_batched_pair", f, Tiling{N: 128, Stages: 2, Group: 8, Pair: true, Problems: Batched},
			bfloat)
		add("_grouped", f, Tiling{N: 128, Stages: 2, Group: 8, Problems: Grouped}, bfloat)
	}
	for _, f := range []Format{nvfp4.Depth96(), mxfp4.Depth96()} {
		add("", f, f.Default(false), bfloat)
		add("_pair", f, f.Default(true), bfloat)
	}
	columns := Tiling{N: 128, Stages: 2, Group: 8, ColumnsA: true, ColumnsB: true}
	pair := columns
	pair.Pair, pair.N = true, 256
	onlyA, onlyB := columns, columns
	onlyA.ColumnsB, onlyB.ColumnsA = false, false
	for _, f := range []Format{mxfp8, mixed(isa.E5m2, isa.E4m3)} {
		add("_columns_a", f, onlyA, bfloat)
		add("_columns_b", f, onlyB, bfloat)
		add("_columns", f, columns, bfloat)
		add("_columns_pair", f, pair, bfloat)
	}
	add("_columns_b", mxfp8.Zeros(), onlyB, bfloat)
	for _, e := range Epilogues {
		add(e.Name, nvfp4, e.tiling(Tiling{N: 128, Stages: 2, Group: 8}), e)
	}
	for _, e := range []Epilogue{Epilogues[1], Epilogues[3]} {
		add(e.Name, mxfp8, e.tiling(Tiling{N: 128, Stages: 2, Group: 8}), e)
	}
	add("_c_ignored", nvfp4, Epilogues[1].tiling(Tiling{N: 128, Stages: 2, Group: 8}), Epilogues[1])
	list[len(list)-1].Ignored = true
	for _, e := range []Epilogue{Epilogues[1], Epilogues[5], Epilogues[9]} {
		add(e.Name+"_pair", nvfp4, e.tiling(Tiling{N: 128, Stages: 2, Group: 8, Pair: true}), e)
	}
	for _, e := range []Epilogue{Epilogues[3], Epilogues[5]} {
		add(e.Name+"_pair", mxfp8, e.tiling(Tiling{N: 128, Stages: 2, Group: 8, Pair: true}), e)
	}
	for _, f := range SyncFormats() {
		list = append(list,
			Case{Name: "sync_" + f.Name, Format: f, Epilogue: bfloat, Sync: true,
				Target: "sm_120a"})
	}
	return list
}

// CasesFor returns the cases to test on a target. sm_103a has those cases of sm_100a that differ
// there, and sm_121a has those cases of sm_120a that use common formats.
func CasesFor(target string) []Case {
	var list []Case
	for _, c := range Cases() {
		switch {
		case c.Target == target, target == "sm_121a" && c.Target == "sm_120a" && c.common():
			list = append(list, c)
		case target == "sm_103a" && strings.HasSuffix(c.Name, "_overlap"):
			list = append(list, c)
		}
	}
	return list
}

// common reports whether the case has one of the most used formats, with which the other options
// are tested.
func (c Case) common() bool {
	return slices.Contains([]Format{nvfp4, mxfp4, mxfp6, mxfp8, mxfp8x4, nvfp4.Zeros(),
		mxfp8.Zeros()}, c.Format)
}
