// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestAssembles gives every program to the assembler.
func TestAssembles(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	all := All()
	ids := map[string]bool{}
	for at := 0; at < len(all); at += 200 {
		some := all[at:min(at+200, len(all))]
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
		for i := range some {
			if ids[some[i].ID] {
				t.Errorf("%s occurs twice", some[i].ID)
			}
			ids[some[i].ID] = true
		}
	}
	t.Logf("%d programs", len(all))
}

func TestEmulate(t *testing.T) {
	dev, err := runtime.Open("emu:" + Target)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	pick := os.Getenv("PICK")
	all := All()
	bad := map[string]int{}
	for i := range all {
		p := &all[i]
		if !strings.Contains(p.Family+" "+p.ID, pick) {
			continue
		}
		if _, err := p.Emulate(dev); err != nil {
			bad[p.Family]++
			if bad[p.Family] < 4 || pick != "" {
				t.Errorf("%s: %s: %v", p.Family, p.ID, err)
			}
			dev.Close()
			if dev, err = runtime.Open("emu:" + Target); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log(bad)
}
