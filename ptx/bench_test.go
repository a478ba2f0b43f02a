// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"runtime/debug"
	"testing"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// asCommand sets the garbage collector as the command does, which also parses files one after
// another in the same memory.
func asCommand(b *testing.B) {
	percent := debug.SetGCPercent(400)
	b.Cleanup(func() { debug.SetGCPercent(percent) })
}

func BenchmarkParse(b *testing.B) {
	asCommand(b)
	text := generate(5 << 20)
	if _, errs := ptx.Parse("generated", text); len(errs) > 0 {
		b.Fatal(errs[0])
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var p ptx.Parser
	for b.Loop() {
		p.Parse("generated", text)
	}
}

// BenchmarkParseOnce allocates new memory for each module.
func BenchmarkParseOnce(b *testing.B) {
	asCommand(b)
	text := generate(5 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ptx.Parse("generated", text)
	}
}

func BenchmarkScan(b *testing.B) {
	text := generate(5 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ptx.Scan(text)
	}
}

func BenchmarkFormat(b *testing.B) {
	asCommand(b)
	text := generate(5 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var p ptx.Parser
	for b.Loop() {
		if out, errs := p.Format("bench.ptx", text); out == "" {
			b.Fatal(errs[0])
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	asCommand(b)
	text := generate(5 << 20)
	f, errs := ptx.Parse("bench.ptx", text)
	if len(errs) > 0 {
		b.Fatal(errs[0])
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ptx.Print(f)
	}
}
