// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
)

// describeDifference returns a description of the difference between two signatures, or "".
func describeDifference(a, b *function) string {
	if len(a.params) != len(b.params) {
		return fmt.Sprintf("%s in one declaration, %d here", plural(len(a.params), "parameter"),
			len(b.params))
	}
	if len(a.returns) != len(b.returns) {
		return fmt.Sprintf("%s in one declaration, %d here", plural(len(a.returns), "return value"),
			len(b.returns))
	}
	for i := range a.returns {
		if what := describeFormalDifference(&a.returns[i], &b.returns[i]); what != "" {
			return fmt.Sprintf("return value %d is %s", i+1, what)
		}
	}
	for i := range a.params {
		if what := describeFormalDifference(&a.params[i], &b.params[i]); what != "" {
			return fmt.Sprintf("parameter %d is %s", i+1, what)
		}
	}
	return ""
}

func describeFormalDifference(a, b *formal) string {
	switch {
	case a.shape.space != b.shape.space:
		return fmt.Sprintf("a %s in one declaration, a %s here", a.shape.space, b.shape.space)
	case !a.shape.isSameType(&b.shape):
		return fmt.Sprintf("%s in one declaration, %s here", a.shape.String(), b.shape.String())
	case a.shape.align != b.shape.align:
		return fmt.Sprintf("aligned to %d in one declaration, to %d here", a.shape.align,
			b.shape.align)
	}
	return ""
}

// canPass reports whether a variable can be passed for a parameter. State spaces are not
// compared. Scalars and vectors must have compatible element types; arrays must also have the
// same size.
func canPass(formal, actual *shape) bool {
	if formal.vec != actual.vec && (len(formal.dims) == 0 || len(actual.dims) == 0) {
		return false
	}
	if !areCompatible(formal.typ, actual.typ, len(formal.dims) > 0) {
		return false
	}
	if len(formal.dims) != len(actual.dims) {
		return false
	}
	return len(formal.dims) == 0 || formal.isIncomplete() || formal.size() == actual.size()
}

// areCompatible reports whether a value of one element type can be passed for another. Element
// types of arrays may differ in width.
func areCompatible(formal, actual isa.Type, array bool) bool {
	if formal == actual {
		return true
	}
	fc, ac := formal.Class(), actual.Class()
	if fc == isa.Pred || ac == isa.Pred || !array && formal.Bits() != actual.Bits() {
		return false
	}
	whole := func(c isa.Class) bool { return c == isa.Signed || c == isa.Unsigned }
	float := func(c isa.Class) bool { return c == isa.Float || c == isa.Half }
	if fc == isa.Bits || ac == isa.Bits {
		return true
	}
	return formal.Bits() == actual.Bits() && (whole(fc) && whole(ac) || float(fc) && float(ac))
}
