// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	units := Units()
	if len(units) < 150 {
		t.Errorf("%d files planned; 150 are the least", len(units))
	}
	targets := make(map[string]bool)
	seen := make(map[string]bool)
	for _, u := range units {
		if seen[u.Name()] {
			t.Errorf("%s is planned twice", u.Name())
		}
		seen[u.Name()] = true
		targets[u.Target] = true
		if _, err := sources.ReadFile("cuda/" + u.Source + ".cu"); err != nil {
			t.Errorf("%s: %v", u.Name(), err)
		}
	}
	for _, target := range strings.Fields(
		"75 80 86 87 88 89 90 90a 100 100a 103 103a 107 107a 110 110a 120 120a 121 121a") {
		if !targets["sm_"+target] {
			t.Errorf("no file for sm_%s", target)
		}
	}
}

// TestLicence checks that every source has the project's licence header.
func TestLicence(t *testing.T) {
	for _, pattern := range []string{"cuda/*.cu", "triton/*.py"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(text[:min(200, len(text))],
				[]byte("SPDX-License-Identifier: Apache-2.0")) {
				t.Errorf("%s: no licence", name)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	list := []candidate{
		{name: "a.sm_90.plain.ptx", size: 30},
		{name: "a.sm_90a.plain.ptx", size: 20},
		{name: "a.sm_90.debug.ptx", size: 500},
		{name: "b.sm_75.plain.ptx", size: 10},
		{name: "b.sm_75.lines.ptx", size: 10},
	}
	var got []string
	for _, c := range choose(list, 100) {
		got = append(got, c.name)
	}
	want := []string{"a.sm_90.plain.ptx", "a.sm_90a.plain.ptx", "b.sm_75.lines.ptx",
		"b.sm_75.plain.ptx"}
	if !slices.Equal(got, want) {
		t.Errorf("chose %q, want %q", got, want)
	}
}

func TestWriteSlice(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "slice.tar.gz")
	if err := WriteSlice(name, folder); err == nil {
		t.Error("a slice of nothing")
	}
	if err := os.WriteFile(filepath.Join(folder, "a.sm_90.plain.ptx"), []byte("text"),
		0o600); err != nil {
		t.Fatal(err)
	}
	var made [2][]byte
	for i := range made {
		if err := WriteSlice(name, folder); err != nil {
			t.Fatal(err)
		}
		var err error
		if made[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two archives of the same files differ")
	}
}

// TestSlice checks that the slice in the repository is small, that its files are useful, and that
// they contain no path except that of the fixed build folder.
func TestSlice(t *testing.T) {
	f, err := os.Open("testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files, size := 0, int64(0)
	targets := make(map[string]bool)
	for in := tar.NewReader(packed); ; {
		header, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files++
		size += header.Size
		targets[strings.Split(header.Name, ".")[1]] = true
		if !bytes.Contains(text, []byte(".version")) {
			t.Errorf("%s is no PTX", header.Name)
		}
		for _, line := range bytes.Split(text, []byte("\n")) {
			if bytes.Contains(line, []byte(".file")) && bytes.Contains(line, []byte(`"/`)) &&
				!bytes.Contains(line, []byte("/ptxdsl-corpus/")) &&
				!bytes.Contains(line, []byte(`"/usr/`)) {
				t.Errorf("%s: a path of one machine: %s", header.Name, line)
				break
			}
		}
	}
	if files < 60 || size < 3<<20 || len(targets) < 15 {
		t.Errorf("%d files, %d bytes, %d targets: too thin", files, size, len(targets))
	}
	if info, err := f.Stat(); err != nil || info.Size() > 3<<20 {
		t.Errorf("the archive has %d bytes, 3 MB are the most (%v)", info.Size(), err)
	}
}

func TestFailureIsReported(t *testing.T) {
	tools := t.TempDir()
	bin := filepath.Join(tools, "nvidia", "cu13", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho 'arith.cu(1): error: no such thing'\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "nvcc"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	m := Maker{Tools: tools, Output: t.TempDir(), Match: func(name string) bool {
		return name == "arith.sm_75.plain.ptx"
	}}
	made, err := m.cudaOnly(t.Context(), t.TempDir())
	if made != 0 || err == nil || !strings.Contains(err.Error(), "arith for sm_75, plain") ||
		!strings.Contains(err.Error(), "no such thing") {
		t.Errorf("%d made, error %v", made, err)
	}
}
