// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// maxSpots limits how many lines Print lists.
const maxSpots = 8

// Print writes the statistics as text.
func (s *Stats) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "instructions\twarps\tthreads")
	var sum Count
	for _, name := range s.byCount() {
		c := s.Classes[name]
		sum = Count{sum.Warps + c.Warps, sum.Threads + c.Threads}
		fmt.Fprintf(w, "  %s\t%d\t%d\n", name, c.Warps, c.Threads)
	}
	fmt.Fprintf(w, "  all\t%d\t%d\n", sum.Warps, sum.Threads)
	fmt.Fprintln(w, "bytes\tread\twritten")
	for _, space := range slices.Sorted(maps.Keys(s.Bytes)) {
		fmt.Fprintf(w, "  %s\t%d\t%d\n", space, s.Bytes[space].Read, s.Bytes[space].Written)
	}
	if s.Asynchronous != (Bytes{}) {
		fmt.Fprintf(w, "  of these asynchronous\t%d\t%d\n", s.Asynchronous.Read,
			s.Asynchronous.Written)
	}
	if s.TMA > 0 {
		fmt.Fprintf(w, "TMA and bulk copies\t%d bytes\n", s.TMA)
	}
	if s.Products > 0 {
		fmt.Fprintf(w, "tensor-core products\t%d by warps\n", s.Products)
	}
	if len(s.Operations) > 0 {
		fmt.Fprintln(w, "operations\tadditions and multiplications")
		for _, name := range slices.Sorted(maps.Keys(s.Operations)) {
			fmt.Fprintf(w, "  %s\t%d\n", name, s.Operations[name])
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if s.Shared.Warps > 0 {
		fmt.Fprintf(out,
			"shared memory: %d accesses by warps took %d wavefronts, %d of them because of bank conflicts\n",
			s.Shared.Warps, s.Shared.Parts, s.Shared.Parts-s.Shared.Least)
	}
	if s.Global.Warps > 0 {
		fmt.Fprintf(out,
			"global memory: %d accesses by warps touched %d sectors of 32 bytes, %d more than coalesced accesses would\n",
			s.Global.Warps, s.Global.Parts, s.Global.Parts-s.Global.Least)
	}
	s.printSpots(out)
	return s.printBarriers(out)
}

// byCount returns the classes in order of descending instruction counts.
func (s *Stats) byCount() []string {
	names := slices.Sorted(maps.Keys(s.Classes))
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(s.Classes[b].Warps, s.Classes[a].Warps)
	})
	return names
}

// printSpots lists the lines with the most wasted accesses.
func (s *Stats) printSpots(out io.Writer) {
	lines := slices.Sorted(maps.Keys(s.SpotLines))
	waste := func(line string) int64 { return s.SpotLines[line].Parts - s.SpotLines[line].Least }
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(waste(b), waste(a)) })
	for i, line := range lines {
		if i == maxSpots {
			fmt.Fprintf(out, "  and %d more lines\n", len(lines)-i)
			break
		}
		x := s.SpotLines[line]
		unit := "wavefronts"
		if x.What == "uncoalesced" {
			unit = "sectors"
		}
		fmt.Fprintf(out, "  %s: %s, %d %s where %d would do\n", line, x.What, x.Parts, unit,
			x.Least)
	}
}

// printBarriers lists how barriers were used.
func (s *Stats) printBarriers(out io.Writer) error {
	if len(s.Barriers) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "barriers\tphases\tarrivals\twaits of warps\tinstructions meanwhile, a wait")
	for _, name := range slices.Sorted(maps.Keys(s.Barriers)) {
		b := s.Barriers[name]
		mean := 0.0
		if b.Waits > 0 {
			mean = float64(b.Waited) / float64(b.Waits)
		}
		fmt.Fprintf(w, "  %s\t%d\t%d\t%d\t%.1f\n", name, b.Phases, b.Arrivals, b.Waits, mean)
	}
	return w.Flush()
}
