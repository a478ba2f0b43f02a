// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/ptx"
)

func BenchmarkFormat(b *testing.B) {
	text := generate(5 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if out, errs := ptx.Format("bench.ptx", text); out == "" {
			b.Fatal(errs[0])
		}
	}
}
