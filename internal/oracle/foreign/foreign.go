// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package foreign runs PTX that nvcc and Triton generated, and compares the results with NumPy.
// The kernels are in the directories cuda and triton. For each kernel the directory reference
// declares the launch, the arguments and a NumPy function with the same results. The archive in
// testdata holds the PTX and the expected results, so that the test needs neither a compiler nor
// Python; `make foreign` regenerates it.
package foreign

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An Archive holds the cases, their PTX and the expected results.
type Archive struct {
	Compilers map[string]string // compiler versions by name
	Cases     []Case
	files     map[string][]byte
}

// A Case is a kernel with its launch and arguments.
type Case struct {
	Name, Source, Kernel string
	Target, Variant      string
	Compiler, PTX        string
	Grid, Block, Cluster []int
	Shared               int
	Cooperative          bool
	Args                 []Arg
}

// An Arg is an argument: a buffer, a number or a tensor map.
type Arg struct {
	Role, Type string
	Value      json.Number // value of a scalar
	Count      int         // elements of a buffer
	Rule       Rule
	Hidden     bool   // the kernel accesses the buffer only through a tensor map
	SHA256     string // hash of the expected bytes, or ""
	Want       string // name of the file with the expected elements, or ""
	Abs, Rel   float64
	Why        string // reason for the tolerance

	Buffer     int // index of the argument that a tensor map describes
	Sizes, Box []int
	Swizzle    int
}

// A Rule specifies how the elements of a buffer are generated.
type Rule struct {
	Kind, Seed, Low, High, Byte, And, Or, Value, File string
}

// Title returns a unique name of the case, such as the source, kernel and target.
func (c *Case) Title() string {
	title := strings.TrimSuffix(strings.TrimSuffix(c.Source, ".cu"), ".py") + "/" + c.Name + "." +
		c.Target
	if c.Variant != "" {
		title += "." + c.Variant
	}
	return title
}

// Text returns the PTX of a case.
func (a *Archive) Text(c *Case) string { return string(a.files["ptx/"+c.PTX]) }

// Read reads an archive, a .tar.bz2 file.
func Read(packed []byte) (*Archive, error) {
	a := &Archive{files: make(map[string][]byte)}
	r := tar.NewReader(bzip2.NewReader(bytes.NewReader(packed)))
	for {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if a.files[head.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(a.files["manifest.json"], a); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	for i := range a.Cases {
		c := &a.Cases[i]
		if a.files["ptx/"+c.PTX] == nil {
			return nil, fmt.Errorf("%s: no file %s", c.Title(), c.PTX)
		}
	}
	return a, nil
}
