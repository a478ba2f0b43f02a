// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// TestAssembles assembles every tenth program with ptxas; Generate assembles all of them.
func TestAssembles(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	var all []Program
	for i, p := range All() {
		if ids[p.ID] {
			t.Errorf("%s occurs twice", p.ID)
		}
		ids[p.ID] = true
		if i%10 == 0 {
			all = append(all, p)
		}
	}
	for at := 0; at < len(all); at += 50 {
		some := all[at:min(at+50, len(all))]
		text := Module(some)
		cubin, verdict, err := tool.Assemble(context.Background(), text,
			ptxas.Options{Target: Target, Flags: []string{"-O1"}})
		if err != nil {
			t.Fatal(err)
		}
		if cubin == nil {
			lines := strings.Split(text, "\n")
			for _, m := range verdict.Messages {
				line := ""
				if m.Line > 0 && m.Line <= len(lines) {
					line = lines[m.Line-1]
				}
				t.Errorf("%s: %s", m.Text, line)
			}
		}
	}
}
