// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sources returns the modules at a path: all .ptx files in a directory, the modules in a .tar.gz
// archive, or one file.
func Sources(path string) ([]Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var list []Source
	switch {
	case info.IsDir():
		list, err = folder(path)
	case strings.HasSuffix(path, ".tar.gz"):
		list, err = archive(path)
	default:
		var text []byte
		text, err = os.ReadFile(path)
		list = []Source{{path, string(text)}}
	}
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: no .ptx files in it", path)
	}
	slices.SortFunc(list, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

func folder(path string) ([]Source, error) {
	var list []Source
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".ptx") {
			return err
		}
		text, err := os.ReadFile(name)
		list = append(list, Source{name, string(text)})
		return err
	})
	return list, err
}

func archive(path string) ([]Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var list []Source
	for in := tar.NewReader(packed); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if header.Typeflag != tar.TypeReg || !strings.HasSuffix(header.Name, ".ptx") {
			continue
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, header.Name, err)
		}
		list = append(list, Source{header.Name, string(text)})
	}
}
