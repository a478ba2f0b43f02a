// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// A Label is a place that branches lead to, for code that is carried over from PTX.
type Label struct {
	k      *Kernel
	block  *ir.Block
	placed bool
}

// NewLabel is a label that Place puts somewhere.
func (k *Kernel) NewLabel(name string) *Label {
	k = k.sound()
	if !identifier(name) {
		k.fault(&ruleKernel, "%q is no name for a label", name)
		name = "label"
	}
	l := &Label{k: k, block: k.newBlock(name)}
	k.marks = append(k.marks, l)
	return l
}

// Place puts a label here.
func (k *Kernel) Place(l *Label) {
	k = k.sound()
	switch {
	case l == nil || l.k != k:
		k.fault(&ruleForeign, "a label of another kernel cannot be placed in %s", k.Name())
	case l.placed:
		k.fault(&ruleLabel, "label %s is placed twice", l.block.Name())
	default:
		l.placed, k.parted = true, true
		k.place(l.block)
	}
}

// Branch goes to a label.
func (k *Kernel) Branch(l *Label) {
	k = k.sound()
	k.parted = true
	if k.mine(l) {
		k.branch(l.block)
	}
}

// BranchIf goes to a label where p holds.
func (k *Kernel) BranchIf(p Reg[Pred], l *Label) {
	k = k.sound()
	k.parted = true
	if k.mine(l) {
		k.branchIf(p, false, l.block)
	}
}

func (k *Kernel) mine(l *Label) bool {
	if l == nil || l.k != k {
		k.fault(&ruleForeign, "a branch of %s to a label of another kernel", k.Name())
		return false
	}
	k.wayOut()
	return true
}
