// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sliceBytes is the maximum size of the PTX in the slice, which two processors assemble twice in
// one or two minutes. The slice is the part of the corpus that the repository contains.
const sliceBytes = 6 << 20

// A candidate is a file that may become part of the slice.
type candidate struct {
	path, name string
	size       int64
}

// features returns the features of a file that the slice must contain: its source with its
// variant, its source with its hardware generation, and its target.
func (c candidate) features() []string {
	part := strings.Split(c.name, ".")
	if len(part) != 4 {
		return nil
	}
	source, target, variant := part[0], part[1], part[2]
	generation := strings.TrimPrefix(strings.TrimRight(target, "af"), "sm_")
	generation = generation[:len(generation)-1]
	return []string{source + " " + variant, source + " on " + generation, target,
		target + " " + variant}
}

// choose selects, smallest first, every file that has a new feature, until the total size reaches
// limit.
func choose(list []candidate, limit int64) []candidate {
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.size, b.size), strings.Compare(a.name, b.name))
	})
	seen := make(map[string]bool)
	var chosen []candidate
	for _, c := range list {
		adds := false
		for _, f := range c.features() {
			adds = adds || !seen[f]
		}
		if !adds || c.size > limit {
			continue
		}
		limit -= c.size
		chosen = append(chosen, c)
		for _, f := range c.features() {
			seen[f] = true
		}
	}
	slices.SortFunc(chosen, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
	return chosen
}

// WriteSlice selects the slice from the corpus in a directory and writes it as a .tar.gz. The
// same files give the same archive.
func WriteSlice(archive, folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.ptx"))
	if err != nil {
		return err
	}
	var list []candidate
	for _, path := range names {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		list = append(list, candidate{path, filepath.Base(path), info.Size()})
	}
	chosen := choose(list, sliceBytes)
	if len(chosen) == 0 {
		return fmt.Errorf("%s: nothing to cut a slice from (make corpus)", folder)
	}
	var b bytes.Buffer
	packed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(packed)
	for _, c := range chosen {
		text, err := os.ReadFile(c.path)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: c.name, Mode: 0o644, Size: int64(len(text)),
			Typeflag: tar.TypeReg}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(archive+".new", b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(archive+".new", archive)
}
