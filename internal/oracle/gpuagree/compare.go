// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tally counts the cases of a family by the result of the comparison. Known differences are
// counted separately.
type Tally struct {
	Family                                 string
	Cases, Equal, Within, Known, Differing int
}

// A Difference is the first input for which a case gives a different result. Reason is set if the
// difference is known.
type Difference struct {
	ID        string
	Reason    string
	Inputs    []uint64
	Got, Want uint64
	Column    int
	Row       int
	Count     int
}

// Compare compares the results in a record with those of the emulator.
func Compare(r *Record) ([]Tally, []Difference, error) {
	s, err := NewSetting(r.Version, r.Target)
	if err != nil {
		return nil, nil, err
	}
	tallies := map[string]*Tally{}
	var differences []Difference
	for i := range r.Results {
		result := &r.Results[i]
		c := s.byID[result.ID]
		if c == nil && knownDifference(result.ID) != "" {
			continue // the instruction is not in the manual
		}
		if c == nil {
			return nil, nil, fmt.Errorf("case %s is not known", result.ID)
		}
		t := tallies[c.Family]
		if t == nil {
			t = &Tally{Family: c.Family}
			tallies[c.Family] = t
		}
		t.Cases++
		want := c.Expect(s.Inputs)
		if result.matches(want) {
			t.Equal++
			continue
		}
		d, err := c.difference(result, want, s.Inputs)
		switch {
		case err != nil:
			return nil, nil, err
		case d == nil:
			t.Within++
		default:
			if d.Reason = knownDifference(result.ID); d.Reason != "" {
				t.Known++
			} else {
				t.Differing++
			}
			differences = append(differences, *d)
		}
	}
	list := make([]Tally, 0, len(tallies))
	for _, t := range tallies {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b Tally) int { return strings.Compare(a.Family, b.Family) })
	return list, differences, nil
}

// difference returns the first result that differs by more than the manual allows, or nil.
func (c *Case) difference(result *Result, want []uint64, in *Inputs) (*Difference, error) {
	d := &Difference{ID: c.ID}
	if result.Raw == nil {
		d.Count = -1 // the record only has hashes
		return d, nil
	}
	got, err := inflate(result.Raw)
	if err != nil {
		return nil, err
	}
	if len(got) != len(want) {
		return nil, fmt.Errorf("%s: %d results, want %d", c.ID, len(got), len(want))
	}
	for at := range want {
		if got[at] == want[at] || c.isApproximate() &&
			c.isWithinBound(c.outType(at/Rows), got[at], want[at]) {
			continue
		}
		if d.Count++; d.Count == 1 {
			d.Got, d.Want, d.Column, d.Row = got[at], want[at], at/Rows, at%Rows
			d.Inputs = c.operands(in, at%Rows)
		}
	}
	if d.Count == 0 {
		return nil, nil
	}
	return d, nil
}

func (c *Case) outType(i int) isa.Type {
	if c.Op != nil && i < len(c.Op.Out) {
		return c.Op.Out[i]
	}
	return 0
}

// operands returns the operands of the operation in a row of the inputs.
func (c *Case) operands(in *Inputs, row int) (list []uint64) {
	if c.Op == nil {
		return nil
	}
	for i := range c.Op.In {
		if strings.HasPrefix(c.Opcode, "lop3") && i == 3 {
			continue
		}
		list = append(list, in.data[in.scalar(c, i)][row])
	}
	for i := range c.Op.PIn {
		list = append(list, in.data[in.predicate(i)][row])
	}
	return list
}

// Print writes the tallies as a table, followed by the differences.
func Print(w io.Writer, r *Record, tallies []Tally, differences []Difference) error {
	fmt.Fprintf(w, "%s\n%s, %s, PTX %s\n", r.Note, r.Device, r.Target, r.Version)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "family\tcases\tequal\twithin\tknown\tdifferent\t")
	var sum Tally
	for _, t := range tallies {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t\n",
			t.Family, t.Cases, t.Equal, t.Within, t.Known, t.Differing)
		sum.Cases += t.Cases
		sum.Equal += t.Equal
		sum.Within += t.Within
		sum.Known += t.Known
		sum.Differing += t.Differing
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\t%d\t%d\t\n",
		sum.Cases, sum.Equal, sum.Within, sum.Known, sum.Differing)
	if err := table.Flush(); err != nil {
		return err
	}
	for _, d := range differences {
		switch {
		case d.Reason != "":
			fmt.Fprintf(w, "%s: known: %s\n", d.ID, d.Reason)
			continue
		case d.Count < 0:
			fmt.Fprintf(w, "%s: other results; the record has hashes alone\n", d.ID)
			continue
		}
		fmt.Fprintf(w, "%s: %d of %d differ; row %d, result %d of %#x: GPU %#x, here %#x\n",
			d.ID, d.Count, Rows, d.Row, d.Column, d.Inputs, d.Got, d.Want)
	}
	return nil
}
