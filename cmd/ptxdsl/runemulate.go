// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/inspect"
)

// emulateFlags holds the flags of run that require an emulated device.
type emulateFlags struct {
	seed               uint64
	completion, checks string
	exact, stats       bool
	trace, thread      string
	watch, stop, tiles repeatedFlag
	hits               int

	counts   *inspect.Stats
	timeline *inspect.Timeline
	watches  []*inspect.Watch
	breaks   []*inspect.Break
}

// declare declares the flags in a flag set.
func (f *emulateFlags) declare(flags *flag.FlagSet) {
	flags.Uint64Var(&f.seed, "seed", 0, "emulator: order in which warps run, and with -completion "+
		"random\nwhen asynchronous operations complete")
	flags.StringVar(&f.completion, "completion", "", "emulator: `when` asynchronous operations "+
		"complete: late (default), eager\nor random")
	flags.StringVar(&f.checks, "checks", "", "emulator: `level` of checks: on (default), strict "+
		"(shared memory that was\nnever written, too) or off (reads of unwritten memory are accepted)")
	flags.BoolVar(&f.exact, "exact", false,
		"emulator: tensor-core instructions add in float64 and "+
			"round once, instead of\nas the hardware of the target does")
	flags.BoolVar(&f.stats, "stats", false,
		"emulator: print instructions by class, bytes by space, "+
			"bank conflicts,\nuncoalesced accesses, tensor-core operations and barriers")
	flags.StringVar(&f.trace, "trace", "", "emulator: write a timeline for Perfetto to `file.json`")
	flags.Var(&f.watch, "watch", "emulator: print each change of a `register`; may be repeated")
	flags.Var(&f.stop, "break", "emulator: print registers, mbarriers and the tiles of -tile each "+
		"time the\nthread comes to a `line` of the PTX (12) or of Go (gemm.go:12); may be repeated")
	flags.Var(&f.tiles, "tile", "emulator: shared memory that -break prints, `name=type[RxC]`: "+
		"tiles=f16[16x8],\ntiles+1024=f32[4x4], or tensor memory: tmem+32=f32[128x8]; may be repeated")
	flags.StringVar(&f.thread, "thread", "0,0",
		"emulator: the thread of -watch and -break: indices "+
			"of the `block,thread`")
	flags.IntVar(&f.hits, "hits", 20,
		"emulator: print at most `n` changes and stops for each flag; "+
			"0 prints all")
}

// isSet reports whether a flag that requires the emulator is set.
func (f *emulateFlags) isSet() bool {
	return f.seed != 0 || f.completion != "" || f.checks != "" || f.exact || f.stats ||
		f.trace != "" ||
		len(f.watch)+len(f.stop)+len(f.tiles) > 0
}

// options returns the options of the emulated device for the flags.
func (f *emulateFlags) options(c *call, place string) (emu.Options, error) {
	o, err := emu.ParsePlace(place)
	if err != nil {
		return o, err
	}
	o.Seed, o.Exact = f.seed, f.exact
	switch f.completion {
	case "", "late":
	case "eager":
		o.Completion = emu.Eager
	case "random":
		o.Completion = emu.Random
	default:
		return o, fmt.Errorf("-completion %s: expected late, eager or random", f.completion)
	}
	switch f.checks {
	case "", "on":
	case "strict":
		o.Strict = true
	case "off":
		o.Unchecked = true
	default:
		return o, fmt.Errorf("-checks %s: expected on, strict or off", f.checks)
	}
	observers, err := f.observers(c.stdout)
	if len(observers) > 0 {
		o.Observer = emu.Observers(observers...)
	}
	if c.stderr.terminal() {
		o.Progress = func(p emu.Progress) { showProgress(c.stderr, p) }
	}
	return o, err
}

// observers returns the observers of the emulator that the flags request.
func (f *emulateFlags) observers(out io.Writer) (list []emu.Observer, err error) {
	var focus inspect.Focus
	block, thread, ok := strings.Cut(f.thread, ",")
	b, e1 := strconv.ParseUint(block, 10, 32)
	t, e2 := strconv.ParseUint(thread, 10, 10)
	if focus.Block, focus.Thread = uint32(b), uint32(t); !ok || e1 != nil || e2 != nil {
		return nil, fmt.Errorf("-thread %s: expected block,thread, such as 0,33", f.thread)
	}
	if f.hits < 0 {
		return nil, errors.New("-hits must not be negative")
	}
	var tiles []inspect.Tile
	for _, text := range f.tiles {
		x, err := inspect.ParseTile(text)
		if err != nil {
			return nil, fmt.Errorf("-tile: %w", err)
		}
		tiles = append(tiles, x)
	}
	if f.stats {
		f.counts = inspect.NewStats()
		list = append(list, f.counts)
	}
	if f.trace != "" {
		f.timeline = inspect.NewTimeline()
		list = append(list, f.timeline)
	}
	for _, name := range f.watch {
		w := &inspect.Watch{Register: name, Focus: focus, Out: out, Limit: f.hits}
		f.watches, list = append(f.watches, w), append(list, w)
	}
	for _, line := range f.stop {
		b := &inspect.Break{Line: line, Focus: focus, Tiles: tiles, Out: out, Limit: f.hits}
		f.breaks, list = append(f.breaks, b), append(list, b)
	}
	return list, nil
}

// open opens the device of -device. If other flags require the emulator, it opens an emulated
// device with their options.
func (f *runFlags) open(c *call) (*runtime.Device, error) {
	name := f.device
	if name == "" && f.emulate.isSet() {
		name = "emu"
	}
	d, err := c.device(name)
	if err != nil {
		return nil, err
	}
	if !d.Info().Emulated {
		if f.emulate.isSet() {
			return nil, errors.Join(
				fmt.Errorf("%s is a GPU; flags of the emulator need -device emu",
					d), d.Close())
		}
		return d, nil
	}
	o, err := f.emulate.options(c, d.String())
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	back, err := emu.New(o)
	if err != nil {
		return nil, err
	}
	return runtime.On(back), nil
}

// report prints the counts of -stats, and writes the timeline of -trace.
func (f *emulateFlags) report(c *call) error {
	for _, w := range f.watches {
		if w.Shown() == 0 {
			fmt.Fprintf(c.stderr,
				"ptxdsl run: %s did not change in this thread, or is not a register there\n",
				w.Register)
		}
	}
	for _, b := range f.breaks {
		switch {
		case b.Shown() > 0:
		case !b.Ran():
			fmt.Fprintf(c.stderr, "ptxdsl run: -thread %s: the launch has no such block or thread\n",
				f.thread)
		default:
			fmt.Fprintf(c.stderr, "ptxdsl run: the thread did not reach line %s\n", b.Line)
		}
	}
	if f.counts != nil {
		if err := f.counts.Print(c.stdout); err != nil {
			return err
		}
	}
	if f.timeline == nil {
		return nil
	}
	file, err := os.Create(f.trace)
	if err != nil {
		return err
	}
	return errors.Join(f.timeline.Write(file), file.Close())
}

// showProgress overwrites the current line of w with the progress of a kernel.
func showProgress(w io.Writer, p emu.Progress) {
	if p.Ended {
		fmt.Fprint(w, "\r\x1b[K")
		return
	}
	left := ""
	if d := p.Left(); d > 0 {
		left = fmt.Sprintf(", about %s left", d.Round(time.Second))
	}
	fmt.Fprintf(w, "\r\x1b[K%s: %d of %d blocks, %s%s", p.Kernel, p.Done, p.Blocks,
		p.Elapsed.Round(time.Second), left)
}
