// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A wrongKernel is a file of testdata/wrong: a kernel k and how to launch it. Comments say what is
// wrong and what the report must contain:
//
//	// launch: block=64 grid=2 cluster=2 shared=1024
//	// args: u32[64] raw[256] freed[64] 7
//	// want "regexp"                          in the message
//	// note "regexp"                          in a note
//
// A want at the end of an instruction's line asks for that line too. Arguments are arrays of zeros,
// memory that was never written, memory that was freed, tensor maps (map, rawmap), and numbers.
type wrongKernel struct {
	text                         string
	block, grid, cluster, shared int
	args                         []string
	line                         int // 0 if no instruction is named
	want                         string
	notes                        []string
}

var target = regexp.MustCompile(`\n\.target (\w+)`)

var wantComment = regexp.MustCompile(`// (want|note) "(.*)"$`)

// readWrong parses a file of testdata/wrong.
func readWrong(text string) (*wrongKernel, error) {
	k := &wrongKernel{text: text, block: 32, grid: 1, cluster: 1}
	for i, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "// launch: "); ok {
			for _, word := range strings.Fields(rest) {
				name, value, _ := strings.Cut(word, "=")
				n, err := strconv.Atoi(value)
				to := map[string]*int{"block": &k.block, "grid": &k.grid, "cluster": &k.cluster,
					"shared": &k.shared}[name]
				if err != nil || to == nil {
					return nil, fmt.Errorf("line %d: %s", i+1, word)
				}
				*to = n
			}
		}
		if rest, ok := strings.CutPrefix(line, "// args: "); ok {
			k.args = strings.Fields(rest)
		}
		m := wantComment.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[1] == "note":
			k.notes = append(k.notes, m[2])
		default:
			if k.want = m[2]; !strings.HasPrefix(line, "//") {
				k.line = i + 1
			}
		}
	}
	if k.want == "" {
		return nil, errors.New("it wants no report")
	}
	return k, nil
}

// run runs the kernel and returns its error.
func (k *wrongKernel) run(t *testing.T, d *runtime.Device) error {
	m, err := d.Load(runtime.PTX(k.text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	for _, word := range k.args {
		if kind, ok := strings.CutSuffix(word, "map"); ok {
			args = append(args, tensor(t, d, kind == "raw"))
			continue
		}
		kind, rest, array := strings.Cut(word, "[")
		n, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
		if !array {
			n, err = strconv.Atoi(word)
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !array:
			args = append(args, uint32(n))
		case kind == "u32":
			b, err := runtime.Upload(d, make([]uint32, n))
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, b)
		default:
			b, err := runtime.Alloc[uint32](d, n)
			if err != nil {
				t.Fatal(err)
			}
			if kind == "freed" {
				args = append(args, uint64(b.Address()))
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				continue
			}
			args = append(args, b)
		}
	}
	grid := runtime.Grid(k.grid).Block(k.block).Shared(k.shared)
	if k.cluster > 1 {
		grid = grid.Cluster(k.cluster)
	}
	return f.Launch(grid, args...)
}

// tensor returns the tensor map of a 16 by 16 matrix of words with boxes of 8 rows.
func tensor(t *testing.T, d *runtime.Device, raw bool) *runtime.TensorMap {
	b, err := runtime.Alloc[uint32](d, 256)
	if err == nil && !raw {
		err = b.Fill(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := runtime.Tiled(b, []int{16, 16}, []int{8, 16})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWrong runs kernels with one mistake each and compares the reported fault.
func TestWrong(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			k, err := readWrong(string(text))
			if err != nil {
				t.Fatal(err)
			}
			d := open(t, emu.Options{Workers: 1, Target: target.FindStringSubmatch(k.text)[1]})
			err = k.run(t, d)
			var fault *emu.Fault
			if !errors.As(err, &fault) {
				t.Fatalf("error %v, want a fault with %q", err, k.want)
			}
			if !regexp.MustCompile(k.want).MatchString(fault.Message) {
				t.Errorf("message %q, want %q", fault.Message, k.want)
			}
			if k.line != 0 && fault.Place.Line != k.line {
				t.Errorf("line %d, want %d: %v", fault.Place.Line, k.line, fault)
			}
			notes := slices.Clone(fault.Notes)
			if fault.Waiting != nil {
				notes = append(notes, "headline: "+fault.Waiting.Reason)
			}
			for _, want := range k.notes {
				if !regexp.MustCompile(want).MatchString(strings.Join(notes, "\n")) {
					t.Errorf("no note has %q:\n%v", want, fault)
				}
			}
			if fault.Kernel != "k" {
				t.Errorf("kernel %q", fault.Kernel)
			}
		})
	}
	if len(files) < 60 {
		t.Errorf("%d kernels, want 60", len(files))
	}
}
