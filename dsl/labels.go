// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
)

// A Label is a branch target for code that is ported from PTX. New code uses If, Range, While and
// Switch instead.
type Label struct {
	k         *Kernel
	block     *ir.Block
	placed    bool
	isInvalid bool // the name is invalid, which has been reported
}

// NewLabel returns a new label. PlaceLabel sets its position.
func (k *Kernel) NewLabel(name string) *Label {
	k = k.sound()
	refused := !identifier(name)
	if refused {
		k.fault(&ruleKernel, "%q is not a valid label name", name)
		name = "label"
	}
	l := &Label{k: k, block: k.newBlock(name), isInvalid: refused}
	k.marks = append(k.marks, l)
	return l
}

// PlaceLabel sets the position of the label to before the next instruction.
func (k *Kernel) PlaceLabel(l *Label) {
	k = k.sound()
	switch {
	case l == nil || l.k != k:
		k.fault(&ruleForeign, "label belongs to another kernel, but is placed in %s", k.Name())
	case l.placed:
		k.fault(&ruleLabel, "label %s is placed twice", l.block.Name()).
			withFix(source.Remove())
	default:
		l.placed, k.isDivergent = true, true
		k.place(l.block)
	}
}

// Branch emits an unconditional branch to the label.
func (k *Kernel) Branch(l *Label) {
	k = k.sound()
	k.isDivergent = true
	if k.checkLabel(l) {
		k.branch(l.block)
	}
}

// BranchIf emits a branch to the label that is taken if p is true.
func (k *Kernel) BranchIf(p Reg[Pred], l *Label) {
	k = k.sound()
	k.isDivergent = true
	if k.checkLabel(l) {
		k.branchIf(p, false, l.block)
	}
}

func (k *Kernel) checkLabel(l *Label) bool {
	if l == nil || l.k != k {
		k.fault(&ruleForeign, "%s branches to a label of another kernel", k.Name())
		return false
	}
	k.noteExit()
	return true
}
