// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"time"
)

// WriteSummary prints the counts of a run by kind of probe.
func (r *Report) WriteSummary(w io.Writer) {
	fmt.Fprintln(w,
		"\n| kinds | probes | known exceptions | false accepts | false rejects | agreement |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|")
	row := func(name string, c Count) {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %.4f %% |\n", name, c.Probes, c.Excepted,
			c.FalseAccepts, c.FalseRejects, 100*c.Agreement())
	}
	row("legal and boundary", r.Total(Positive).Add(r.Total(Boundary)))
	row("mutated and random", r.Total(Mutant).Add(r.Total(Random)))
	fmt.Fprintf(w, "\n%d forms, %d of them sampled; %d probes in %s; seed %d\n",
		r.Forms, r.Sampled, r.Probes(), r.Took.Round(time.Second), r.Seed)
	if r.Parts > 1 {
		fmt.Fprintf(w, "\nThe families were probed in %d runs, one after the other.\n", r.Parts)
	}
}

// maxCombinations is the number of combinations per form that `make agree` tries.
const maxCombinations = 20000

// Page formats the report as a documentation page.
func (r *Report) Page(release string, day time.Time, c Config) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Agreement with the assembler

Written by %sagree -report%s on %s: ptxas %s, %d processors. A probe is a short module with one
instruction. Every probe is checked by ptxas, which only parses it, and by the parser, the form checks and the
instruction table of %sptxdsl verify%s. The columns count probes by how they were made:

- legal: instructions that the table accepts: every combination of modifiers, up to %d per form, at the first version and target that support it, and at the newest version
- boundary: the same combinations, one PTX version too early, and on targets that do not support them
- mutated: legal instructions with one change to the modifiers or operands, %d per form
- random: random combinations of the instruction's own modifiers, %d per instruction
- known exceptions: probes of all kinds on which ptxas is known to be wrong; the reasons are in [isa/spec/exceptions](../../isa/spec/exceptions)
- false accepts, false rejects: other probes that only the table accepts, or only ptxas

`, "`", "`", day.Format(time.DateOnly), release, runtime.NumCPU(), "`", "`", c.PerForm, c.Mutants,
		c.Discover)
	if c.PerForm < maxCombinations {
		fmt.Fprint(&b,
			"This run tried only a part of the combinations of each form.\n\n")
	}
	fmt.Fprint(&b,
		"These probes are generated from the table, so they cannot find instructions that the table does not contain; see [harvest](harvest.md).\n\n")
	r.WriteTable(&b)
	r.WriteSummary(&b)
	if r.disputes() > 0 {
		fmt.Fprint(&b, "\n## Remaining differences\n\n```\n")
		r.WriteDisputes(&b, 1000)
		fmt.Fprint(&b, "```\n")
	}
	return b.Bytes()
}

func (r *Report) disputes() int {
	n := 0
	for _, f := range r.Families {
		n += len(f.Disputes)
	}
	return n
}
