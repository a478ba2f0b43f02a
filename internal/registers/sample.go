// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package registers holds package passes/pressure against the assembler: it counts the registers of real
// kernels with ptxas, compares, and fits the correction that the package comes with.
package registers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/internal/roundtrip"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// A Sample is a kernel of which ptxas has said how many registers it uses.
type Sample struct {
	Source    string // the program that it is from, however compiled
	File      string
	Kernel    string
	Target    string
	Count     int
	Predicted int // once a model was asked
	Features  []float64
}

// A Counter asks ptxas. What it has been told is kept in a folder, if one is given.
type Counter struct {
	Tool   *ptxas.Tool
	Folder string
}

// Count returns the registers of each kernel of a module; none where ptxas does not take it as a
// program of its own.
func (c *Counter) Count(ctx context.Context, text string) (map[string]int, error) {
	sum := sha256.Sum256([]byte(text))
	kept := filepath.Join(c.Folder, hex.EncodeToString(sum[:12])+".json")
	counts := make(map[string]int)
	if c.Folder != "" {
		known, err := os.ReadFile(kept)
		if err == nil {
			return counts, json.Unmarshal(known, &counts)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	usage, _, err := c.Tool.Usage(ctx, text, ptxas.Options{})
	if err != nil {
		return nil, err
	}
	for kernel, u := range usage {
		counts[kernel] = u.Registers
	}
	if c.Folder == "" {
		return counts, nil
	}
	out, err := json.Marshal(counts)
	if err != nil {
		return nil, err
	}
	return counts, os.WriteFile(kept, out, 0o644)
}

// Collect measures every kernel of some modules. Those that do not lift are left out, and counted.
func (c *Counter) Collect(ctx context.Context, list []roundtrip.Source) (samples []Sample, left int, err error) {
	results := make([][]Sample, len(list))
	failures := make([]error, len(list))
	lifted := make([]bool, len(list))
	work := make(chan int)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range work {
				results[i], lifted[i], failures[i] = c.collect(ctx, list[i])
			}
		})
	}
	for i := range list {
		work <- i
	}
	close(work)
	group.Wait()
	for i := range results {
		samples = append(samples, results[i]...)
		if !lifted[i] {
			left++
		}
	}
	return samples, left, errors.Join(failures...)
}

func (c *Counter) collect(ctx context.Context, s roundtrip.Source) (samples []Sample, lifted bool, err error) {
	m, _ := ptxdsl.Load(s.Name, s.Text)
	if m == nil {
		return nil, false, nil
	}
	counts, err := c.Count(ctx, s.Text)
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, k := range pressure.Measure(m) {
		if n, ok := counts[k.Func.Name]; ok {
			samples = append(samples, Sample{Source: Program(s.Name), File: s.Name, Kernel: k.Func.Name, Target: m.Target.String(), Count: n, Features: k.Features})
		}
	}
	return samples, true, nil
}

// Program returns what a file is made from: its name up to the first dot, and of names made of
// several words the first ones, so that what is alike falls together; for an example the folder of
// its package.
func Program(file string) string {
	base := filepath.Base(file)
	if folder := filepath.Dir(file); filepath.Base(folder) == "testdata" {
		return filepath.Base(filepath.Dir(folder))
	}
	name, _, _ := strings.Cut(base, ".")
	base, _, _ = strings.Cut(base, ".sm_")
	if parts := strings.Split(base, "+"); len(parts) >= 3 {
		return strings.Join(parts[:3], "+")
	}
	if parts := strings.Split(name, "_"); len(parts) > 2 {
		return strings.Join(parts[:2], "_")
	}
	return name
}
