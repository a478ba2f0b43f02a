// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// doubt is a reason why the derived launch, and not the kernel, may cause a race.
type doubt struct {
	runs []map[site]*race.Race // races of the runs that must also show a race of the kernel
	note string
	// the number of threads in the blocks of these runs, or 0 if they are no part of the others
	threads uint32
}

// settled reports whether the doubt does not apply to a race between blocks: its threads exist in
// the other blocks too, so that only the order of execution made the difference.
func (d *doubt) settled(y *race.Race) bool {
	return y.Rule == race.RuleGrid && y.First.Thread < d.threads && y.Second.Thread < d.threads
}

// smallValues is the doubt about a race that occurs only in launches whose integers are not
// multiples of 16.
const smallValues = "it occurs only with small or odd values of the integers"

// otherContents is the doubt about a race that occurs only if all arrays are zero.
const otherContents = "it does not occur with other contents of the arrays"

// unlike returns a function that reports whether a race does not depend on the contents of the
// arrays although it does not occur with other contents. This is so if no launch with numbers in
// all arrays executes both accesses, and the race occurs with numbers in the inputs.
func (k *kernel) unlike(runs []*run) func(y *race.Race) bool {
	inputs := make(map[site]*race.Race)
	for _, x := range runs {
		if x.inputs {
			maps.Copy(inputs, sites(x))
		}
	}
	return func(y *race.Race) bool {
		for _, x := range runs {
			if x.filled && x.reached(y.First.Place.Line) && x.reached(y.Second.Place.Line) {
				return false
			}
		}
		return inputs[site{y.Rule, y.First.Place, y.Second.Place}] != nil
	}
}

// doubts returns the runs with which a race of a derived launch is compared, each with the reason
// for doubt if the race does not occur in them.
func (k *kernel) doubts(runs []*run) (list []doubt) {
	if len(k.shape.Args) > 0 {
		return nil
	}
	var usual []map[site]*race.Race
	filled := false // all launches with other contents are ordered
	for _, x := range runs {
		if x.filled && x.fault == nil && x.err == nil {
			if filled = !x.unordered(); !filled {
				break
			}
		}
	}
	if filled && (!k.betweenBlocks() || k.hasInputs()) { // else flags and counters start at zero
		list = append(list, doubt{note: otherContents})
	}
	for _, x := range runs {
		switch {
		case x.hasOtherBlock():
			note := "it does not occur with " + x.blockText()
			n := uint32(0)
			if !k.mentions("%ntid") && !k.mentions("%tid.y") {
				n = x.block[0]
			}
			list = append(list, doubt{[]map[site]*race.Race{sites(x)}, note, n})
		case !x.filled && x.blocks == 0 && ordinary(x.count):
			usual = append(usual, sites(x))
		}
	}
	if k.varies() && len(usual) > 0 {
		list = append(list, doubt{runs: usual, note: smallValues})
	}
	return list
}

// assumed describes the assumption on which a race of a derived launch depends, if the file does
// not state it, or returns "".
func (k *kernel) assumed(y *race.Race) string {
	switch {
	case k.oneBlock && (y.Rule == race.RuleGrid || y.Rule == race.RuleScope) &&
		k.shape.Cluster[0] == 0:
		return "the kernel does not use its block index, so it may be written for a grid of one block"
	case k.guessedBox && strings.Contains(y.First.What+y.Second.What, "asynchronous") &&
		// the bytes of a box are contiguous in shared memory
		(k.guessedBytes || y.Space != isa.Shared):
		return "check assumed the boxes of tensor maps"
	case k.structure != "" && y.Space == isa.Global:
		return fmt.Sprintf("check assumed parts of the structure %s to be zero", k.structure)
	case k.inStructure && y.Space == isa.Global:
		return "check assumed the integers in structures"
	}
	return ""
}
