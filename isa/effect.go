// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// An Effect is an effect of an instruction besides the computation of its results. The spec lists
// the effects of each form.
type Effect string

// Effects that passes use.
const (
	EffectPure       Effect = "pure"       // the results depend only on the operands
	EffectConvergent Effect = "convergent" // the threads of a warp execute it together
	EffectVolatile   Effect = "volatile"   // must not be removed or moved
	EffectAsync      Effect = "async"      // completes after later instructions have started
	EffectTensor     Effect = "tensor"     // computes in a tensor core
	EffectBranch     Effect = "branch"     // control continues elsewhere
	EffectTerminator Effect = "terminator" // control leaves the function
)

// Has reports whether f has effect e.
func (f *Form) Has(e Effect) bool {
	for _, have := range f.Effects {
		if Effect(have) == e {
			return true
		}
	}
	return false
}
