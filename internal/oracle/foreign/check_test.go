// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// accepted names kernels with a finding that is known, and why.
var accepted = map[string]string{
	// Collectives of cooperative groups with several warps rely on a shuffle to order the lanes,
	// which PTX does not guarantee.
	"groups.sm_80.ptx:big_tiles":  "shuffle",
	"groups.sm_90.ptx:big_tiles":  "shuffle",
	"groups.sm_100.ptx:big_tiles": "shuffle",
}

// TestCheck checks that check has no error for kernels of compilers in the launches that it
// derives: for some of the files, with FOREIGN=full for all.
func TestCheck(t *testing.T) {
	a := archive(t)
	files := make(map[string]string)
	for i := range a.Cases {
		files[a.Cases[i].PTX] = a.Text(&a.Cases[i])
	}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		if os.Getenv("FOREIGN") != "full" && i%8 != 0 &&
			!strings.HasPrefix(name, "host_descriptors.") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := check.File(name, files[name], check.Options{Seeds: 1, Search: -1})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				for _, d := range r.Findings {
					if d.Severity == diag.Error && accepted[name+":"+r.Kernel] == "" {
						t.Errorf("kernel %s: %s", r.Kernel, check.Text(d))
					}
				}
			}
		})
	}
}
