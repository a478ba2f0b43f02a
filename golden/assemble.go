// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"errors"
	"os"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// Verify runs the tests that every kernel's PTX should pass: Clean, Check and Assemble.
//
//	m := dsl.New("saxpy", "sm_90")
//	Saxpy(m)
//	golden.Verify(t, m)
func Verify(t *testing.T, m interface {
	Module
	Judged
}) {
	t.Helper()
	Clean(t, m)
	Check(t, m)
	Assemble(t, m)
}

// Assemble requires that ptxas, NVIDIA's assembler, accepts the PTX of m. It looks for ptxas in
// $PTXAS, then in the path, then in $CUDA_HOME/bin. If ptxas is not found, Assemble skips a
// subtest named ptxas and reports that; on a CI machine, where $CI is set, the test fails.
func Assemble(t *testing.T, m Module) {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Fatalf("%s cannot be built:\n%v", m.Name(), err)
	}
	AssembleText(t, m.Name(), text)
}

// AssembleText requires that ptxas accepts text, as Assemble does, for PTX from another source
// than a Module.
func AssembleText(t *testing.T, name, text string) {
	t.Helper()
	tool, err := ptxas.Find()
	if errors.Is(err, ptxas.ErrMissing) && os.Getenv("CI") == "" && os.Getenv("PTXAS") == "" {
		t.Run("ptxas", func(t *testing.T) {
			t.Skipf("%s was not assembled: %v", name, err)
		})
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	_, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !verdict.OK() {
		t.Errorf("%s: ptxas rejects the PTX:\n%s", name, verdict)
	}
}
