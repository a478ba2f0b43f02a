// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// An Effect is something that an instruction does besides computing its results. The effects of
// each form are in the spec.
type Effect string

// Effects that passes use.
const (
	EffectPure       Effect = "pure"       // the results depend on the operands only
	EffectConvergent Effect = "convergent" // the threads of a warp execute it together
	EffectVolatile   Effect = "volatile"   // it must not be removed or moved
	EffectAsync      Effect = "async"      // it completes later
	EffectTensor     Effect = "tensor"     // it computes in a tensor core
	EffectBranch     Effect = "branch"     // control continues elsewhere
	EffectTerminator Effect = "terminator" // control leaves the function
)

// Has reports whether a form has an effect.
func (f *Form) Has(e Effect) bool {
	for _, have := range f.Effects {
		if Effect(have) == e {
			return true
		}
	}
	return false
}
