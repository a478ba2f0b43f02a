// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestMalformedOpcodes checks that malformed opcodes are reported. The parser rejects them, but
// builders may pass them on.
func TestMalformedOpcodes(t *testing.T) {
	target, _ := isa.ParseTarget("sm_90a")
	for op, want := range map[string]string{
		"": "does not start with the name", ".": "does not start with the name",
		"..": "does not start with the name", ".add": "does not start with the name",
		"add.": "a dot without a modifier", "add..u32": "a dot without a modifier",
		"add.u32.": "a dot without a modifier",
		"add.\x80": "is not a PTX modifier", "add.é": "is not a PTX modifier",
		"x": "unknown instruction x", "x.": "unknown instruction x",
	} {
		_, problems := isa.NewMatcher(isa.Newest(), target).Match(op, nil)
		if len(problems) == 0 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%q: %v, want %q", op, problems, want)
		}
	}
}
