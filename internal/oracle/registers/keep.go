// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// Write writes samples to a compressed file: the feature names, then one line per sample.
func Write(path string, list []Sample) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(z)
	fmt.Fprintln(w, strings.Join(pressure.Names(), " "))
	for _, s := range list {
		fmt.Fprintf(w, "%s %s %s %s %d", s.Source, filepath.Base(s.File), s.Kernel, s.Target,
			s.Count)
		for _, x := range s.Features {
			fmt.Fprintf(w, " %g", x)
		}
		fmt.Fprintln(w)
	}
	return errors.Join(w.Flush(), z.Close())
}

// Read reads samples from a file that Write wrote.
func Read(path string) ([]Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || lines.Text() != strings.Join(pressure.Names(), " ") {
		return nil, errors.Join(
			fmt.Errorf("%s: the features of the samples do not match the current ones", path),
			lines.Err())
	}
	var list []Sample
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 5+len(pressure.Names()) {
			return nil, fmt.Errorf("%s: a line of %d words", path, len(words))
		}
		s := Sample{Source: words[0], File: words[1], Kernel: words[2], Target: words[3]}
		if s.Count, err = strconv.Atoi(words[4]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, word := range words[5:] {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			s.Features = append(s.Features, x)
		}
		list = append(list, s)
	}
	return list, lines.Err()
}

// Predict returns the samples with the register counts that a model predicts.
func Predict(m *pressure.Model, list []Sample) []Sample {
	out := slices.Clone(list)
	for i := range out {
		out[i].Predicted = pressure.Predict(m, out[i].Features)
	}
	return out
}

// Worst returns the n samples with the largest relative errors.
func Worst(list []Sample, n int) []Sample {
	sorted := slices.Clone(list)
	off := func(s Sample) float64 {
		return math.Abs(math.Log(float64(s.Predicted) / float64(s.Count)))
	}
	slices.SortStableFunc(sorted, func(a, b Sample) int { return cmp.Compare(off(b), off(a)) })
	return sorted[:min(n, len(sorted))]
}
