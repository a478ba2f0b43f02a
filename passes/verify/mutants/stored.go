// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"fmt"
	"os"
	"path/filepath"
)

// A Kernel is a stored kernel and its mutants.
type Kernel struct {
	Name    string // file name
	Text    string
	Mutants []Mutant
}

// Stored returns the kernels that the tests of the analyzers mutate, with their mutants. The
// argument is the path of the directory of package verify.
func Stored(folder string) ([]Kernel, error) {
	names, err := filepath.Glob(filepath.Join(folder, "mutants/testdata/kernels/*.ptx"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("%s has no kernels: %v", folder, err)
	}
	for _, name := range []string{"elect_ring", "tokens", "tensor_memory", "wgmma_depth",
		"cp_async_toggle", "reduce_store"} {
		names = append(names, filepath.Join(folder, "suite/testdata/right", name+".ptx"))
	}
	// These kernels take long to verify: memory contents or the block index distribute their
	// work, or they have a cluster of eight blocks, or roles with many iterations.
	deep, err := filepath.Glob(filepath.Join(folder, "mutants/testdata/deep/*.ptx"))
	if err != nil || len(deep) == 0 {
		return nil, fmt.Errorf("%s has no deep kernels: %v", folder, err)
	}
	first := len(names)
	var list []Kernel
	for i, name := range append(names, deep...) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		of, more := 32, 8
		if i >= first {
			of, more = 11, 4
		}
		k := Kernel{Name: filepath.Base(name), Text: string(text)}
		k.Mutants = append(Of(k.Text, uint64(i), of, Plain()),
			Of(k.Text, uint64(i), more, Further())...)
		list = append(list, k)
	}
	return list, nil
}
