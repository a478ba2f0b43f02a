// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
)

// record runs a kernel and returns its trace.
func record(t *testing.T, text string, threads uint32,
	guide emu.Observer) (*schedule.Trace, error) {
	t.Helper()
	r := &schedule.Recorder{}
	var o emu.Observer = r
	if guide != nil {
		o = emu.Observers(r, guide)
	}
	d, err := emu.New(emu.Options{Target: "sm_90a", Observer: o, Unchecked: true, Limit: 5_000_000})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := d.Load(device.Image{Name: "k.ptx", PTX: text})
	if err != nil {
		t.Fatal(err)
	}
	k, err := d.Kernel(loaded.Module, "k", -1)
	if err != nil {
		t.Fatal(err)
	}
	err = k.Launch(&device.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{threads, 1, 1}})
	return r.Trace(), err
}

// TestSearch searches the orders of small kernels: correct pipelines, and pipelines with one
// mistake. For an incorrect one, the witness must make the emulator hang or fault.
func TestSearch(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The first line is "// THREADS KIND": the threads of the block, and the kind of violation
		// or "none".
		var head struct {
			threads uint32
			kind    schedule.Kind
		}
		if n, err := fscan(text, &head.threads, &head.kind); n != 2 {
			t.Fatalf("%s: %v", name, err)
		}
		trace, err := record(t, string(text), head.threads, nil)
		if err != nil {
			t.Errorf("%s: the launch itself fails: %v", name, err)
			continue
		}
		r := schedule.Search(trace, schedule.Options{States: 100_000})
		t.Logf("%s: %d states, %d orders, %d merged, %d actors, complete: %v", name, r.States,
			r.Orders, r.Merged, r.Actors, r.Complete)
		if r.Violation == nil {
			if head.kind != "none" || !r.Complete {
				t.Errorf("%s: nothing found, want %s; complete: %v", name, head.kind, r.Complete)
			}
			continue
		}
		v := r.Violation
		if v.Kind != head.kind {
			t.Errorf("%s: %s, want %s: %v", name, v.Kind, head.kind, v.Notes)
		}
		w, err := schedule.ParseWitness(v.Witness.String())
		if err != nil {
			t.Fatal(err)
		}
		g := &schedule.Guide{Witness: w}
		_, err = record(t, string(text), head.threads, g)
		var fault *emu.Fault
		if !errors.As(err, &fault) || !g.Done() {
			t.Errorf("%s: witness %s: the launch ends well (%v), followed: %v", name, v.Witness,
				err, g.Done())
		}
		var b bytes.Buffer
		if err := schedule.Perfetto(&b, trace.Timeline(v)); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%s: the timeline is no JSON: %v", name, err)
		}
		b.Reset()
		_ = schedule.Text(&b, trace.Timeline(v))
		t.Logf("witness %s\n%s%v", v.Witness, b.String(), v.Notes)
	}
}

// fscan scans the words of the first line after the comment sign.
func fscan(text []byte, to ...any) (int, error) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return fmt.Sscan(strings.TrimPrefix(string(line), "//"), to...)
}
