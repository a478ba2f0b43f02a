// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"path/filepath"
	"testing"
)

// FuzzCheck searches for texts for which Check panics, hangs, or reports a position outside the
// text.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.ptx", "testdata/ok/*.ptx"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			f.Add(read(f, name))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range findings("fuzz.ptx", text) {
			if d.Message == "" || d.Rule == "" {
				t.Errorf("finding without words: %v", d)
			}
			if d.Place.Line < 1 || d.Place.EndLine < d.Place.Line {
				t.Errorf("finding without a place: %v", d)
			}
		}
	})
}
