// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lift_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// surroundings returns a module with a probe of package form; kind is the letter for the probe's
// position.
func surroundings(kind byte, text string) string {
	version, target := "9.5", "sm_90a"
	if rest, ok := strings.CutPrefix(text, "@"); ok && rest[0] >= '0' && rest[0] <= '9' {
		gate, body, _ := strings.Cut(rest, " ")
		version, target, _ = strings.Cut(gate, ",")
		text = body
	}
	text = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(text)
	head := ".version " + version + "\n.target " + target + "\n.address_size 64\n"
	switch kind {
	case 'M':
		return head + text + "\n"
	case 'E':
		return head + ".entry k(){" + text + " ret; }\n"
	case 'B':
		return head +
			".global .b32 gv[4]; .shared .b32 sv[4]; .const .b32 cv[4];\n.entry k(.param .u64 pp, .param .b32 pw){" +
			".reg .pred %p<5>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<10>; \n" +
			text + "\nret; }\n"
	}
	return text
}

// TestProbes lifts the probes of package form that ptxas and the form checks accept. Lowering and
// lifting again gives the same module, which the checks accept too.
func TestProbes(t *testing.T) {
	data, err := os.ReadFile("../form/testdata/probes.txt")
	if err != nil {
		t.Fatal(err)
	}
	lifted, odd := 0, 0
	for i, line := range strings.Split(string(data), "\n") {
		if len(line) < 5 || line[0] != '+' {
			continue
		}
		text := surroundings(line[2], line[4:])
		file, list := ptx.Parse("probe.ptx", text)
		if append(list, form.Check(file, form.Options{})...).Errors() > 0 {
			continue // a test of package form reports it
		}
		m, list := lift.Module(file)
		if len(list) > 0 && list[0].Rule == "L103" {
			odd++
			continue
		}
		if len(list) > 0 {
			t.Errorf("line %d does not lift: %v: %s\n%s", i+1, list[0].Place, list[0].Message, text)
			continue
		}
		lifted++
		out := lower.Text(m)
		file, list = ptx.Parse("probe.ptx", out)
		list = append(list, form.Check(file, form.Options{})...)
		if list.Errors() > 0 {
			t.Errorf("line %d: lowered: %v: %s %s\n%s\n%s", i+1, list[0].Place, list[0].Rule,
				list[0].Message, text, out)
			continue
		}
		again, list := lift.Module(file)
		if len(list) > 0 {
			t.Errorf("line %d: lowered, it does not lift: %s\n%s", i+1, list[0].Message, out)
			continue
		}
		if d := cmp.Diff(m, again, same...); d != "" {
			t.Errorf("line %d: (-lifted +lifted again)\n%s\n%s\n%s", i+1, d, text, out)
		}
	}
	if lifted < 1000 || odd > 8 {
		t.Errorf("only %d probes were lifted, and %d are too odd for it", lifted, odd)
	}
}
