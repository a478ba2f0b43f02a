// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// racy names kernels, by source, with errors in every launch of more than one thread or block, and
// why. They exist to make a compiler emit instructions, not to be launched.
var racy = map[string]string{
	"async:alone":               "all threads add to one element, and read a copy that is pending",
	"async:inlined":             "several copies to one place, and reads of other threads' copies",
	"bulk:barriers":             "every thread initializes the mbarriers",
	"bulk:elected":              "the lanes store different predicates to one element",
	"bulk:launch":               "an mbarrier is never initialized",
	"bulk:plain":                "copies overlap, and none is waited for",
	"bulk:remote":               "an mbarrier is never initialized",
	"bulk:tensors":              "one tensor map is used with all numbers of dimensions",
	"calls:heap":                "a thread frees what its neighbor stores",
	"coop:cluster":              "both blocks store to the same elements",
	"inline:registers":          "all threads store their indexes to one element",
	"intrinsics:clocks":         "all lanes store their indexes to one element",
	"intrinsics:fast":           "element 0 is stored while others read it",
	"matrix:mma":                "all lanes load and store one element",
	"memory:_Z12fixedclusterPi": "all blocks store their indexes to the same elements",
	"memory:_Z3fewPi":           "all rows of a block store to the same elements",
	"memory:_Z4widePi":          "all blocks store to the same elements",
	"memory:_Z7boundedPi":       "all blocks store to the same elements",
	"memory:_Z9clusteredPi":     "all blocks store to the same elements",
	"memory:shared":             "without optimizations, a load of what other threads store",
	"memory:vectorised":         "each thread stores what its neighbor reads",
	"triton_atomics:atomics":    "weak loads of elements that other programs change",
	"warp:reduce":               "element 0 is stored while others read it",
	"warp:votes":                "all warps store to one element",
}

// few are the files that are checked unless CORPUS=full is set.
var few = []string{
	"atomics.sm_75.plain.ptx", "bulk.sm_90.plain.ptx", "memory.sm_75.plain.ptx",
	"warp.sm_75.plain.ptx",
}

// TestCheck checks that check has no error for the kernels of the corpus, except those of racy.
// With CORPUS=full, each of racy must have one.
func TestCheck(t *testing.T) {
	var mutex sync.Mutex
	failing := make(map[string]int) // kernels of racy with errors, by file
	t.Cleanup(func() {
		for name := range racy {
			if os.Getenv("CORPUS") == "full" && failing[name] == 0 {
				t.Errorf("%s has no error, but is listed", name)
			}
			t.Logf("%s: errors in %d files", name, failing[name])
		}
	})
	for name, text := range stored(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := check.File(name, text, check.Options{Seeds: 1, Search: -1})
			if err != nil {
				t.Fatal(err)
			}
			source, _, _ := strings.Cut(name, ".")
			for _, r := range results {
				if r.Verdict() != "error" {
					continue
				}
				if key := source + ":" + r.Kernel; racy[key] != "" {
					mutex.Lock()
					failing[key]++
					mutex.Unlock()
					continue
				}
				for _, d := range r.Findings {
					if d.Severity == diag.Error {
						t.Errorf("kernel %s: %s", r.Kernel, check.Text(d))
					}
				}
			}
		})
	}
}

// stored returns the files of the archive to check.
func stored(t *testing.T) map[string]string {
	f, err := os.Open("testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		wanted := os.Getenv("CORPUS") == "full"
		for _, name := range few {
			wanted = wanted || h.Name == name
		}
		if !wanted || !strings.HasSuffix(h.Name, ".ptx") {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
	if len(files) < len(few) {
		t.Fatalf("the archive has %d of %d files", len(files), len(few))
	}
	return files
}
