// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"iter"
	"strconv"
	"strings"
)

// Names returns the names to which an operand of .branchtargets or .calltargets refers: the name
// of the operand, or all names of a Series. A series may be very long, so the caller should stop
// at the first name that does not exist.
func (x *Operand) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		if x.Kind != Series {
			yield(x.Text)
			return
		}
		for i := range x.count() {
			if !yield(x.Text + strconv.FormatUint(i, 10)) {
				return
			}
		}
	}
}

// count returns the number of names in a series.
func (x *Operand) count() uint64 {
	digits := strings.TrimSuffix(x.Args[0].Text, "U")
	if digits == "WARP_SZ" {
		return 32
	}
	n, _ := strconv.ParseUint(digits, 0, 64) // MaxUint64 if it exceeds 64 bits
	return n
}
