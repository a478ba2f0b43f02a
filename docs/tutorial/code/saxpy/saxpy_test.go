// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package saxpy

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
)

func TestSaxpy(t *testing.T) {
	m := dsl.New("saxpy", "sm_80")
	Build(m)
	golden.Clean(t, m) // no errors, warnings or reviews
	golden.Check(t, m) // the PTX is that of testdata/saxpy.ptx
}
