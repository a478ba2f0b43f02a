// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package registers evaluates package passes/pressure: it measures the register counts of real
// kernels with ptxas, compares them with the predictions, and fits the correction model that
// passes/pressure contains.
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
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// A Sample is a kernel with the register count that ptxas reports.
type Sample struct {
	Source    string // name of the program, independent of the compiler options
	File      string
	Kernel    string
	Target    string
	Count     int
	Predicted int // set by Predict
	Features  []float64
}

// A Counter measures register counts with ptxas. It caches the results in Folder, unless that is
// "".
type Counter struct {
	Tool   *ptxas.Tool
	Folder string
}

// Count returns the register count of each kernel of a module. The map is empty if ptxas rejects
// the module as a whole program.
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

// Collect measures every kernel of the modules. left is the number of modules that could not be
// lifted.
func (c *Counter) Collect(ctx context.Context,
	list []roundtrip.Source) (samples []Sample, left int, err error) {
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

func (c *Counter) collect(ctx context.Context,
	s roundtrip.Source) (samples []Sample, lifted bool, err error) {
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
			samples = append(samples,
				Sample{Source: Program(s.Name), File: s.Name, Kernel: k.Func.Name,
					Target: m.Target.String(), Count: n, Features: k.Features})
		}
	}
	return samples, true, nil
}

// Program returns the name of the program to which a file belongs: the file name up to the first
// dot, shortened if it consists of several words, so that similar programs are grouped. For an
// example it is the name of the package's directory.
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
