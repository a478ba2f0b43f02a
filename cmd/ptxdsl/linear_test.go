// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/internal/hostile"
)

// hostileTable is where TestLinear writes its times.
var hostileTable = flag.String("hostile", "",
	"measure every text and write the times to this `file`")

// onHostile are the commands that read PTX. A kernel of run ends after half a second.
var onHostile = []string{
	"fmt -e", "fmt -d", "verify -e", "opt -passes=all", "stats -v -exact=false", "check -q",
	"run -device emu -grid 1 -block 32 -timeout 500ms -arg u8[4096] -",
}

// TestLinear runs the commands on hostile text and checks that the time grows linearly with its
// length.
func TestLinear(t *testing.T) {
	size := 3000
	if testing.Short() {
		size = 1000
	}
	t.Setenv("GOGC", "off") // otherwise the commands would change the collector's settings
	texts := hostile.Texts()
	var rows []growth
	for _, command := range onHostile {
		args := strings.Fields(command)
		work := func(text string) { run(args, strings.NewReader(text), io.Discard, io.Discard) }
		// A first run initializes data that later runs share.
		run(args, strings.NewReader(small), io.Discard, io.Discard)
		most, slowest := 0.0, ""
		for i := range texts {
			x := &texts[i]
			if *hostileTable != "" {
				rows = append(rows, growth{command, x.Name, x.Measure(work, size, 8*size, 32*size)})
				continue
			}
			e, short, long := x.Growth(size, work)
			if e > most {
				most, slowest = e, x.Name
			}
			if e > hostile.Exponent {
				t.Errorf("%s, %s: %d times the text takes %.0f times as long: %v, %v", command,
					x.Name, hostile.Times,
					long.Seconds()/short.Seconds(), short, long)
			}
		}
		t.Logf("%-16s the time of %s grows fastest, by the power of %.2f", command, slowest, most)
	}
	if *hostileTable != "" {
		if err := os.WriteFile(*hostileTable, growthPage(size, rows), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A growth is the times of a command on a text of 1, 8 and 32 times a size.
type growth struct {
	command, text string
	times         []time.Duration
}

// exponent returns the exponent with which the time grows from 8 to 32 times the size. Times below
// a millisecond count as equal.
func (g growth) exponent() float64 {
	short, long := max(g.times[1], time.Millisecond), max(g.times[2], time.Millisecond)
	return math.Log(long.Seconds()/short.Seconds()) / math.Log(4)
}

// growthPage is a page with the times: the sum of each command, and for each text the command that
// takes longest.
func growthPage(size int, rows []growth) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Hostile texts

Processor time of the commands on texts that are written to be slow (internal/hostile), of 1, 8 and
32 times %d bytes. The exponent is that of the growth from 8 times to 32 times; linear time has 1.
Times below 1 ms count as 1 ms. TestLinear without the flag fails above %.2f from 1 to 32 times, in
six tries. A launch of check ends at an instruction limit, and one of run here after 500 ms.
Written on %s with
%s, %s/%s, %d processors shared with other work, by

    go test ./cmd/ptxdsl -run TestLinear -hostile=../../bench/results/hostile.md

`, size, hostile.Exponent, time.Now().UTC().Format(time.DateOnly), goruntime.Version(),
		goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU())
	fmt.Fprintln(&b, "| command | texts | sum, 1x | sum, 8x | sum, 32x | slowest at 32x | time | "+
		"largest exponent |\n|---|---:|---:|---:|---:|---|---:|---:|")
	for _, command := range onHostile {
		var own []growth
		sums := make([]time.Duration, 3)
		for _, g := range rows {
			if g.command == command {
				own = append(own, g)
				for i := range sums {
					sums[i] += g.times[i]
				}
			}
		}
		slow := slices.MaxFunc(own, func(a, b growth) int { return int(a.times[2] - b.times[2]) })
		steep := slices.MaxFunc(own,
			func(a, b growth) int { return int(1e6 * (a.exponent() - b.exponent())) })
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %.2f (%s) |\n", command, len(own),
			ms(sums[0]), ms(sums[1]), ms(sums[2]), slow.text, ms(slow.times[2]), steep.exponent(),
			steep.text)
	}
	fmt.Fprintln(&b, "\nFor each text, the command that takes longest at 32 times:\n\n"+
		"| text | command | 1x | 8x | 32x | exponent |\n|---|---|---:|---:|---:|---:|")
	for i := range len(rows) / len(onHostile) {
		worst := rows[i]
		for k := range onHostile {
			if g := rows[i+k*len(rows)/len(onHostile)]; g.times[2] > worst.times[2] {
				worst = g
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.2f |\n", worst.text,
			strings.Fields(worst.command)[0],
			ms(worst.times[0]), ms(worst.times[1]), ms(worst.times[2]), worst.exponent())
	}
	return b.Bytes()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }
