// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"os"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A record holds how the results of a GPU compare with the emulator's, as gputest -both writes
// them.
type record struct {
	gpu, target string
	verdicts    map[string]string
}

// measured reads the record of a GPU.
func measured(t *testing.T) record {
	text, err := os.ReadFile("testdata/hardware.tsv")
	if err != nil {
		t.Fatal(err)
	}
	r := record{verdicts: make(map[string]string)}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "# "); ok {
			parts := strings.Split(head, ", ")
			r.gpu, r.target = strings.TrimPrefix(parts[0], "NVIDIA "), parts[1]
			continue
		}
		if i := strings.LastIndex(line, "\t"); i > 0 {
			r.verdicts[line[:i]] = line[i+1:]
		}
	}
	return r
}

// of returns the cell of a variant.
func (r record) of(directory string, v kerneltest.Variant, target string) string {
	verdict, ok := r.verdicts[directory+"\t"+v.Option+"\t"+v.Name]
	if !ok || strings.HasPrefix(verdict, "not run") || !Runs([]string{target}, r.target) {
		return "not run"
	}
	return r.gpu + ": " + verdict
}
