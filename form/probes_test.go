// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"
	"testing"
)

// A probe is a line of testdata/probes.txt: a module on one line, with the verdict of ptxas.
type probe struct {
	line    int
	verdict byte // + or -
	text    string
}

// probes reads the file. Lines that begin with ~ are known differences.
func probes(t *testing.T) []probe {
	t.Helper()
	var list []probe
	for i, line := range strings.Split(read(t, "testdata/probes.txt"), "\n") {
		if len(line) < 5 || line[0] != '+' && line[0] != '-' {
			continue
		}
		list = append(list, probe{i + 1, line[0], wholeModule(line[2], line[4:])})
	}
	return list
}

// wholeModule completes a probe to a whole module.
func wholeModule(kind byte, text string) string {
	version, target := "9.5", "sm_90a"
	if rest, ok := strings.CutPrefix(text, "@"); ok && rest[0] >= '0' && rest[0] <= '9' {
		gate, body, _ := strings.Cut(rest, " ")
		version, target, _ = strings.Cut(gate, ",")
		text = body
	}
	text = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\f`, "\f", `\z`, "\x1a").Replace(text)
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

// TestProbes compares the verdict of this package on each probe with that of ptxas.
func TestProbes(t *testing.T) {
	list := probes(t)
	if len(list) < 2000 {
		t.Errorf("%d probes; 2000 are the least", len(list))
	}
	for _, p := range list {
		found := findings("probe.ptx", p.text)
		if good := found.Errors() == 0; good != (p.verdict == '+') {
			t.Errorf("line %d: verdict of ptxas %c, the form check differs: %s\n%s", p.line, p.verdict,
				said(found), p.text)
		}
	}
}

// TestProbesAgain asks ptxas for some of the verdicts again, so that errors in the file are found.
func TestProbesAgain(t *testing.T) {
	tool := judge(t)
	for i, p := range probes(t) {
		if i%40 != 0 {
			continue
		}
		if ok, said := accepts(t, tool, p.text); ok != (p.verdict == '+') {
			t.Errorf("line %d: verdict %c in the file, but ptxas: %s\n%s", p.line, p.verdict, said, p.text)
		}
	}
}
