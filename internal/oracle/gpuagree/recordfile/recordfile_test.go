// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package recordfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/oracle/gpuagree/recordfile"
)

type record struct {
	Note   string
	Hashes []uint64
}

// TestRecord writes a record and reads it back, and reads a damaged file.
func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "some.rec")
	in := record{"H100", []uint64{1, 1 << 63}}
	if err := recordfile.Write(name, in); err != nil {
		t.Fatal(err)
	}
	var out record
	if err := recordfile.Read(name, &out); err != nil {
		t.Fatal(err)
	}
	if out.Note != in.Note || !slices.Equal(out.Hashes, in.Hashes) {
		t.Errorf("got %v, want %v", out, in)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b[:len(b)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := recordfile.Read(name, &out); err == nil {
		t.Error("half of a file was read without an error")
	}
}
