// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// probesPerModule is the number of probes that share a module when they are checked as text.
const probesPerModule = 1000

// Rules that ptxas checks only during code generation. Probes are only parsed, so findings of
// these rules are ignored.
const (
	addressWidth     = "F326"
	addressSize      = "F116" // only findings about 32-bit addresses
	constantsTotal   = "F515"
	sharedTotal      = "F516"
	parameterType    = "F605"
	resultBeforeCall = "F635"
	oneGroup         = "F640"
)

// read judges probes as `ptxdsl verify` does: it writes them into modules, and parses and checks
// these.
func read(p place, probes []ptxas.Probe) []formVerdict {
	out := make([]formVerdict, 0, len(probes))
	for chunk := range slices.Chunk(probes, probesPerModule) {
		out = append(out, readModule(p, chunk)...)
	}
	return out
}

// A formVerdict is the verdict of the form check on the text of a probe.
type formVerdict struct {
	why  string // reason why the probe is rejected; "" if it is accepted
	late bool   // a finding concerns code generation, and may hide other findings
}

func readModule(p place, probes []ptxas.Probe) []formVerdict {
	var b strings.Builder
	line := 1
	put := func(format string, args ...any) {
		text := fmt.Sprintf(format+"\n", args...)
		line += strings.Count(text, "\n")
		b.WriteString(text)
	}
	put(".version %s", p.version)
	put(".target %s", p.target)
	if p.version >= isa.MakeVersion(2, 3) {
		put(".address_size 64")
	}
	seen := map[string]bool{}
	for _, x := range probes {
		for _, text := range x.Module {
			if !seen[text] {
				seen[text] = true
				put("%s", text)
			}
		}
	}
	first := make([]int, len(probes)+1) // line of the kernel of each probe
	for i, x := range probes {
		first[i] = line
		put(".entry p%d (%s) {", i, strings.Join(x.Params, ", "))
		for _, list := range [][]string{x.Decls, x.Body} {
			for _, text := range list {
				put("%s", text)
			}
		}
		put("}")
	}
	first[len(probes)] = line
	f, list := ptx.Parse("probes", b.String())
	list = append(list, form.Check(f, form.Options{})...)
	out := make([]formVerdict, len(probes))
	for _, d := range list {
		if d.Severity != diag.Error {
			continue
		}
		i, exact := slices.BinarySearch(first, d.Place.Line)
		if !exact {
			i--
		}
		switch {
		case i < 0 || i == len(out):
		case d.Rule == addressWidth || d.Rule == resultBeforeCall:
			out[i].late = true
		case out[i].why == "":
			out[i].why = d.Rule + ": " + d.Message
		}
	}
	return out
}
