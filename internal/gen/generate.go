// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Folders names the output folders of Generate.
type Folders struct {
	Table string // folder of package isa
	Op    string // folder of package op with the builder methods
}

// Generate reads the spec files and writes the z-files of packages isa and op. It removes z-files
// of families that no longer exist. With check it writes nothing and returns an error if a file
// would change.
func Generate(spec string, to Folders, check bool) error {
	s, err := Load(spec)
	if err != nil {
		return err
	}
	table, err := s.Emit()
	if err != nil {
		return err
	}
	op, err := s.EmitOp()
	if err != nil {
		return err
	}
	return errors.Join(write(table, to.Table, check), write(op, to.Op, check))
}

// write replaces the z-files of a folder by files, or compares them if check is set.
func write(files map[string][]byte, out string, check bool) error {
	old, err := filepath.Glob(filepath.Join(out, "z*"))
	if err != nil {
		return err
	}
	var stale []error
	for _, path := range old {
		if _, ok := files[filepath.Base(path)]; ok {
			continue
		}
		if check {
			stale = append(stale, fmt.Errorf("%s: no spec file makes this any more", path))
		} else if err := os.Remove(path); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(out, name)
		have, err := os.ReadFile(path)
		if err == nil && bytes.Equal(have, files[name]) {
			continue
		}
		if check {
			stale = append(stale,
				fmt.Errorf("%s: differs from what the spec says; run go generate ./isa", path))
			continue
		}
		if err := os.WriteFile(path, files[name], 0o666); err != nil {
			return err
		}
	}
	return errors.Join(stale...)
}
