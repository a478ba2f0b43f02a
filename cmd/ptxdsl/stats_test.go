// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// TestExact counts registers with ptxas, also for a module that calls a function of another module,
// and checks the fallback to estimates if ptxas rejects a module.
func TestExact(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	const calls = `.version 8.0
.target sm_90
.address_size 64
.extern .func f();
.visible .entry k() { call f, (); ret; }
`
	saxpy, err := os.ReadFile("../../examples/02_saxpy/testdata/saxpy.sm_90.ptx")
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := tool.Usage(t.Context(), string(saxpy), ptxas.Options{})
	if err != nil || want["saxpy"].Registers == 0 {
		t.Fatal(want, err)
	}
	picky := filepath.Join(t.TempDir(), "ptxas")
	script := fmt.Sprintf(
		"#!/bin/sh\ncase \"$*\" in\n*\" -v \"*) echo 'ptxas m.ptx, line 4; error   : too large'; exit 255;;\nesac\nexec %q \"$@\"\n",
		tool.Path)
	if err := os.WriteFile(picky, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, tool, text string
		exact            bool
		count            int // 0 for any
	}{
		{"saxpy", tool.Path, string(saxpy), true, want["saxpy"].Registers},
		{"calls", tool.Path, calls, true, 0},
		{"refused", picky, calls, false, 0},
	} {
		t.Setenv("PTXAS", c.tool)
		var out, trouble bytes.Buffer
		code := run([]string{"stats", "-json"}, strings.NewReader(c.text), &out, &trouble)
		var got statsObject
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || code != 0 {
			t.Fatalf("%s: exit %d: %v: %s%s", c.name, code, err, out.String(), trouble.String())
		}
		if got.Exact != c.exact || got.Registers == 0 || c.count > 0 && got.Registers != c.count {
			t.Errorf("%s: %+v, want exact %v, %d registers", c.name, got, c.exact, c.count)
		}
	}
	var out bytes.Buffer
	if run([]string{"stats"}, strings.NewReader(calls), &out, &out); !strings.Contains(out.String(),
		"ptxas rejects the module: line 4; error: too large") {
		t.Errorf("no reason for an estimate: %s", out.String())
	}
	t.Setenv("PTXAS", "/nowhere/ptxas")
	out.Reset()
	if code := run([]string{"stats", "-exact"}, strings.NewReader(calls), &out,
		&out); code != exitTrouble {
		t.Errorf("exit %d without ptxas: %s", code, out.String())
	}
}
