// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// named are the module-scope declarations that probes of exceptions may need.
var named = []struct{ name, declaration string }{
	{"gv", ".global .align 16 .b32 gv[64];"},
	{"sv", ".shared .align 16 .b32 sv[64];"},
	{"tex0", ".global .texref tex0;"},
	{"srf0", ".global .surfref srf0;"},
	{"fn0", ".visible .func fn0() { ret; }"},
}

var registerName = regexp.MustCompile(`%([a-z]+\d*(?:x2)?)_\d+`)

// exampleProbe returns the probe of an exception with the declarations of what it names.
func exampleProbe(text string) ptxas.Probe {
	x := ptxas.Probe{Body: []string{text}}
	for _, n := range named {
		if regexp.MustCompile(`\b` + n.name + `\b`).MatchString(text) {
			x.Module = append(x.Module, n.declaration)
		}
	}
	for _, m := range registerName.FindAllStringSubmatch(text, -1) {
		typ := "." + m[1]
		if m[1] == "p" {
			typ = ".pred"
		}
		if d := ".reg " + typ + " " + m[0] + ";"; !slices.Contains(x.Decls, d) {
			x.Decls = append(x.Decls, d)
		}
	}
	return x
}

// TestExceptionProbes asks both sides about the probes of the exceptions: an exception is needed
// only where they differ.
func TestExceptionProbes(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	ex, err := ReadExceptions(filepath.Join("..", "..", "isa", "spec", "exceptions"))
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, e := range ex.list {
		for _, line := range e.probes {
			examples++
			words := strings.SplitN(line, " ", 3)
			version, err := isa.ParseVersion(words[0])
			target, ok := isa.ParseTarget(words[1])
			if err != nil || !ok {
				t.Errorf("%s: no version and target", line)
				continue
			}
			probes := []ptxas.Probe{exampleProbe(words[2])}
			verdicts, err := tool.Judge(context.Background(), words[0], words[1], probes)
			if err != nil {
				t.Fatal(err)
			}
			if verdicts[0].OK() != e.accepts {
				t.Errorf("%s\nptxas: %s", line, verdicts[0])
			}
			if r := read(place{version, target}, probes)[0]; (r.why == "") == e.accepts {
				t.Errorf("%s\ntable and assembler agree: %q", line, r.why)
			}
		}
	}
	if examples < len(ex.list) {
		t.Errorf("%d exceptions have %d probes", len(ex.list), examples)
	}
}
