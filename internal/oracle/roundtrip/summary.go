// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"fmt"
	"io"
)

// Summary writes the problems, the modules that ptxas rejects, and the counts. It reports whether
// there were problems.
func Summary(w io.Writer, reports []Report) (bad bool) {
	var size, code, same, rewritten, refused, unsteady, wrong int
	for _, r := range reports {
		size += r.Bytes
		code += r.Compared
		if r.Same {
			same++
		}
		if r.Rewritten {
			rewritten++
		}
		if len(r.Problems) > 0 {
			wrong++
		}
		for _, p := range r.Problems {
			fmt.Fprintf(w, "%s: %s\n", r.Name, p)
		}
		if len(r.Unsteady) > 0 {
			unsteady++
		}
		for _, why := range r.Unsteady {
			fmt.Fprintf(w, "%s: %s\n", r.Name, why)
		}
		if !r.Accepted {
			refused++
			if len(r.Problems) == 0 {
				fmt.Fprintf(w, "%s: refused by ptxas and by verify: %s\n", r.Name,
					shorten(r.Refusal))
			}
		}
	}
	fmt.Fprintf(w,
		"roundtrip: %d modules, %.1f MB of PTX, %.1f MB of code and tables compared; %d with their tokens as they were; %d through the intermediate representation; %d refused by both; %d not compared because ptxas is not deterministic on them; %d with problems\n",
		len(reports), float64(size)/1e6, float64(code)/1e6, same, rewritten, refused, unsteady,
		wrong)
	return wrong > 0
}
