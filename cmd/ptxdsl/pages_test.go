// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
)

// frames are contexts in which the PTX of a rule page is tried: a whole module, module-scope
// declarations, the body of a kernel, the body of a function.
var frames = []struct{ name, before, after string }{
	{"module", "", "\n"},
	{"declarations", ".version 9.4\n.target sm_90a\n.address_size 64\n", "\n"},
	{"version", ".target sm_90a\n", "\n"},
	{"headless body", "", ""},
	{"body", ".version 9.0\n.target sm_90a\n.address_size 64\n" + things +
		".visible .entry k(.param .u64 p)\n{\n" + registers + "{\n", "\n}\nDONE: ret;\n}\n"},
	{"function",
		".version 9.0\n.target sm_90a\n.address_size 64\n" + things +
			".func (.param .b32 out) f(.param .b32 in)\n{\n" + registers + "{\n",
		"\n}\nDONE: ret;\n}\n"},
	{"body sm_70",
		".version 6.0\n.target sm_60\n.address_size 64\n" + things +
			".visible .entry k(.param .u64 p)\n{\n" + registers + "{\n", "\n}\nDONE: ret;\n}\n"},
}

const (
	things    = ".shared .align 16 .b32 sh[64];\n.global .align 16 .b32 gv[64];\n"
	registers = ".reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<10>;\n"
)

// kernels are contexts for hazard rules: a kernel with shared memory, whose directives are the
// first lines of the PTX on the page.
var kernels = []struct {
	name, target string
}{{"kernel sm_90a", "sm_90a"}, {"kernel sm_100a", "sm_100a"}}

// kernel returns a kernel that contains the PTX of a page.
func kernel(target, text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	head := ""
	for len(lines) > 0 &&
		(strings.HasPrefix(lines[0], ".reqn") || strings.HasPrefix(lines[0], ".maxn") ||
			strings.HasPrefix(lines[0], ".explicitcluster")) {
		head += lines[0] + "\n"
		lines = lines[1:]
	}
	return ".version 9.0\n.target " + target + "\n.address_size 64\n" +
		".shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b64 bars[8];\n.shared .align 4 .b32 slot;\n" +
		".visible .entry k(.param .u64 p)\n" + head + "{\n" + registers + "{\n" +
		strings.Join(lines, "\n") + "\n}\nDONE: ret;\n}\n"
}

// TestRulePages checks the examples on rule pages: the wrong PTX violates the rule, the right PTX
// violates none.
func TestRulePages(t *testing.T) {
	for _, r := range ptxdsl.Rules() {
		if r.Wrong == "" {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			var tried []string
			for _, f := range frames {
				// A text with a module header replaces the header of the context.
				frame := func(text string) string {
					head := ""
					lines := strings.Split(strings.Trim(text, "\n"), "\n")
					for len(lines) > 1 &&
						(strings.HasPrefix(lines[0], ".version") ||
							strings.HasPrefix(lines[0], ".target") ||
							strings.HasPrefix(lines[0], ".address_size")) {
						head += lines[0] + "\n"
						lines = lines[1:]
					}
					before := f.before
					if head != "" && f.name != "module" {
						_, rest, _ := strings.Cut(before, ".address_size 64\n")
						before = head + rest
					}
					if f.name == "module" {
						return text + "\n"
					}
					return before + strings.Join(lines, "\n") + f.after
				}
				wrong, right := findings(r.ID, "wrong.ptx", frame(r.Wrong)),
					findings(r.ID, "right.ptx", frame(r.Right))
				if hits(wrong, r.ID) && (r.Severity != diag.Error || right.Errors() == 0) &&
					!hits(right, r.ID) {
					return
				}
				var b strings.Builder
				_ = (diag.Printer{}).Print(&b, wrong)
				b.WriteString("right:\n")
				_ = (diag.Printer{}).Print(&b, right)
				tried = append(tried, f.name+":\n"+b.String())
			}
			for _, k := range kernels {
				wrong, right := findings(r.ID, "wrong.ptx", kernel(k.target, r.Wrong)),
					findings(r.ID, "right.ptx", kernel(k.target, r.Right))
				if hits(wrong, r.ID) && right.Errors() == 0 && !hits(right, r.ID) {
					return
				}
				var b strings.Builder
				_ = (diag.Printer{}).Print(&b, wrong)
				b.WriteString("right:\n")
				_ = (diag.Printer{}).Print(&b, right)
				tried = append(tried, k.name+":\n"+b.String())
			}
			t.Errorf("%s: in no surroundings does the wrong PTX break the rule and the right PTX none\n%s", r.ID, strings.Join(tried, "\n"))
		})
	}
}

// findings returns all findings of the text of a rule's page in its surroundings, except R7 on
// other pages: their text reads registers that the rest of the kernel would write.
func findings(id, name, text string) diag.List {
	return slices.DeleteFunc(ptxdsl.Verify(name, text, ptxdsl.Options{}).Findings,
		func(d diag.Diagnostic) bool { return d.Rule == "R7" && id != "R7" })
}

func hits(l diag.List, id string) bool {
	for _, d := range l {
		if d.Rule == id {
			return true
		}
	}
	return false
}
