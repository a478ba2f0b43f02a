// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Report is the result of a comparison.
type Report struct {
	Seed       uint64
	Parts      int // number of merged runs, or 0 for a single run
	Forms      int // number of forms that were probed
	Took       time.Duration
	Sampled    int      // number of forms with too many combinations to try all
	NoLegal    []string // forms without a legal combination of modifiers
	NoOperands []string // forms for which operands cannot be generated
	Families   []*Family
}

// A Family holds the results for the instructions of one spec file.
type Family struct {
	Name     string
	Counts   [kinds]Count
	Disputes []Dispute
}

// A Count holds the counts for one kind of probe.
type Count struct {
	Probes       int
	Excepted     int
	FalseAccepts int // probes that the table accepts and ptxas rejects
	FalseRejects int // probes that ptxas accepts and the table rejects
}

// A Dispute is a probe on which the verdicts differ.
type Dispute struct {
	Kind  Kind
	What  string
	Place string
	Text  string
	Form  string
	Ours  string // why the table rejects the probe; "" if it accepts
	Ptxas string
}

func (r *Report) family(name string) *Family {
	for _, f := range r.Families {
		if f.Name == name {
			return f
		}
	}
	f := &Family{Name: name}
	r.Families = append(r.Families, f)
	return f
}

// Probes returns the number of probes of all families.
func (r *Report) Probes() int {
	n := 0
	for _, f := range r.Families {
		for _, c := range f.Counts {
			n += c.Probes
		}
	}
	return n
}

func (r *Report) count(ex *Exceptions, p place, x *probe, say verdictPair) {
	c := &x.tally.Counts[x.kind]
	c.Probes++
	if (say.rejection == "") == say.ptxas.OK() {
		return
	}
	text := x.String()
	// A probe that the table generates as legal and then rejects is always a mistake of the
	// table.
	ownFault := x.kind == Positive && say.rejection != ""
	if !ownFault && ex.excludes(p, text, say.ptxas.OK()) {
		c.Excepted++
		return
	}
	if say.rejection == "" {
		c.FalseAccepts++
	} else {
		c.FalseRejects++
	}
	x.tally.Disputes = append(x.tally.Disputes, Dispute{
		Kind: x.kind, What: x.what, Place: p.String(), Text: text, Form: x.form.Template,
		Ours: say.rejection, Ptxas: say.ptxas.String(),
	})
}

// Total returns the counts of a kind of probe, added over all families.
func (r *Report) Total(k Kind) Count {
	var t Count
	for _, f := range r.Families {
		c := f.Counts[k]
		t.Probes += c.Probes
		t.Excepted += c.Excepted
		t.FalseAccepts += c.FalseAccepts
		t.FalseRejects += c.FalseRejects
	}
	return t
}

// Agreement returns the fraction of probes with equal verdicts. Known exceptions are not counted.
func (c Count) Agreement() float64 {
	if c.Probes == c.Excepted {
		return 1
	}
	return 1 - float64(c.FalseAccepts+c.FalseRejects)/float64(c.Probes-c.Excepted)
}

// Add returns the sum of two counts.
func (c Count) Add(d Count) Count {
	return Count{c.Probes + d.Probes, c.Excepted + d.Excepted, c.FalseAccepts + d.FalseAccepts,
		c.FalseRejects + d.FalseRejects}
}

// WriteTable prints the counts of each family as a Markdown table.
func (r *Report) WriteTable(w io.Writer) {
	fmt.Fprintln(w,
		"| family | legal | boundary | mutated | random | known exceptions | false accepts | false rejects | agreement |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	row := func(name string, count func(Kind) Count) {
		var all Count
		var cells []string
		for k := range kinds {
			c := count(k)
			all = all.Add(c)
			cells = append(cells, fmt.Sprint(c.Probes))
		}
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %.4f %% |\n", name, strings.Join(cells, " | "),
			all.Excepted, all.FalseAccepts, all.FalseRejects, 100*all.Agreement())
	}
	for _, f := range r.Families {
		row(f.Name, func(k Kind) Count { return f.Counts[k] })
	}
	row("all", r.Total)
}

// WriteDisputes prints at most `most` disputes of each family, and at most three of each form and
// kind.
func (r *Report) WriteDisputes(w io.Writer, most int) {
	for _, f := range r.Families {
		perForm := map[string]int{}
		shown := 0
		for _, d := range f.Disputes {
			key := d.Form + d.Kind.String()
			if perForm[key]++; perForm[key] > 3 || shown >= most {
				continue
			}
			shown++
			side := "ptxas rejects, table accepts"
			if d.Ours != "" {
				side = "ptxas accepts, table rejects"
			}
			fmt.Fprintf(w, "%s: %s (%s %s) at %s\n\t%s\n\tform %s\n\tptxas: %s\n", f.Name, side,
				d.Kind, d.What, d.Place, d.Text, d.Form, d.Ptxas)
			if d.Ours != "" {
				fmt.Fprintf(w, "\ttable: %s\n", d.Ours)
			}
		}
		if n := len(f.Disputes); n > shown {
			fmt.Fprintf(w, "%s: %d disputes in all, %d shown\n", f.Name, n, shown)
		}
	}
	for _, list := range []struct {
		what  string
		forms []string
	}{{"no legal combination or place", r.NoLegal}, {"operands cannot be made up", r.NoOperands}} {
		slices.Sort(list.forms)
		for _, form := range slices.Compact(list.forms) {
			fmt.Fprintf(w, "not probed, %s: %s\n", list.what, form)
		}
	}
}

// CheckThresholds returns an error if the agreement is too low. All legal and boundary probes
// must agree, and 99.9 % of the mutants and random probes, of which at most 0.05 % may be false
// accepts. At most 0.2 % of the probes may be known exceptions.
func (r *Report) CheckThresholds() error {
	sure := r.Total(Positive).Add(r.Total(Boundary))
	rest := r.Total(Mutant).Add(r.Total(Random))
	switch {
	case sure.FalseAccepts+sure.FalseRejects > 0:
		return fmt.Errorf("%d legal and boundary probes disagree",
			sure.FalseAccepts+sure.FalseRejects)
	case 500*sure.Excepted > sure.Probes:
		return fmt.Errorf("%d of %d legal and boundary probes are known exceptions", sure.Excepted,
			sure.Probes)
	case rest.Agreement() < 0.999:
		return fmt.Errorf("mutated and random probes agree on %.3f %%", 100*rest.Agreement())
	case 2000*rest.FalseAccepts > rest.Probes:
		return fmt.Errorf("%d of %d mutated and random probes are accepted wrongly",
			rest.FalseAccepts, rest.Probes)
	}
	return nil
}
