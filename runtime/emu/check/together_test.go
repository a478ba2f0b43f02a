// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// TestProcessors checks that the number of processors changes nothing in the results: among others,
// those of kernels that end only in some schedules, and that race only in some.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	names := []string{"global/lock_store.wrong", "global/grid_barrier_sense.wrong",
		"shared/groups_use_one_named_barrier.wrong", "shared/lock_plain_unlock.right",
		"cluster/st_async_second_round.wrong", "warp/partial_last_warp_shuffle.wrong"}
	if testing.Short() { // under the race detector
		names = []string{names[0], names[2], names[4]}
	}
	for _, name := range names {
		path := filepath.Join("testdata/pairs", name+".ptx")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var first []check.Result
		for _, n := range []int{1, 4} {
			runtime.GOMAXPROCS(n)
			results, err := check.File(path, string(text), check.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range results {
				results[i].Search, results[i].Timeline = nil, nil
			}
			if first == nil {
				first = results
			} else if diff := cmp.Diff(first, results); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}
