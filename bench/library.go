// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ebitengine/purego"
)

// Folders returns the directories in which libraries are searched after the loader's own: the
// given ones, and the directories in which Python packages such as PyTorch install libraries.
func Folders(given string) []string {
	list := filepath.SplitList(given)
	roots := []string{"/usr/local/lib/python3*/*-packages", "/usr/lib/python3*/*-packages",
		"/usr/lib/python3/*-packages", "/opt/*/lib/python3*/*-packages"}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".local/lib/python3*/*-packages"))
	}
	// Python reports the directories of its packages
	if out, err := exec.Command("python3", "-c",
		"import sys; print('\\n'.join(p for p in sys.path if p))").Output(); err == nil {
		roots = append(roots, strings.Fields(string(out))...)
	}
	for _, root := range roots {
		for _, pattern := range []string{"nvidia/*/lib", "torch/lib"} {
			// the patterns are valid
			found, _ := filepath.Glob(filepath.Join(root, pattern))
			list = append(list, found...)
		}
	}
	list = append(list, "/usr/local/cuda/lib64")
	slices.Sort(list[len(filepath.SplitList(given)):])
	return slices.Compact(list)
}

// open opens the first library that can be opened. It tries the names in each directory, and then
// with the system's loader.
func open(folders []string, names ...string) (handle uintptr, path string, err error) {
	// dlerror keeps its message per thread
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var candidates []string
	for _, folder := range folders {
		for _, name := range names {
			if p := filepath.Join(folder, name); exists(p) {
				candidates = append(candidates, p)
			}
		}
	}
	var last error
	for _, path := range append(candidates, names...) {
		// RTLD_GLOBAL is needed because cuBLAS looks up cuBLASLt among the open libraries.
		if handle, last = purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL); last == nil {
			return handle, path, nil
		}
		if err == nil {
			err = last
		}
	}
	return 0, "", fmt.Errorf("none of %s: %w", strings.Join(names, ", "), err)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A library is an open shared library with the addresses of some functions.
type library struct {
	path      string
	functions map[string]uintptr
}

// load opens a library and looks up functions in it.
func load(folders []string, names []string, functions ...string) (*library, error) {
	handle, path, err := open(folders, names...)
	if err != nil {
		return nil, err
	}
	l := &library{path, make(map[string]uintptr)}
	for _, f := range functions {
		if l.functions[f], err = purego.Dlsym(handle, f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return l, nil
}

// call calls a function that returns a status, and returns an error if the status is not zero. If
// an argument is written as uintptr(unsafe.Pointer(&x)) in the call, x does not move until call
// returns.
//
//go:uintptrescapes
func (l *library) call(function string, args ...uintptr) error {
	status, _, _ := purego.SyscallN(l.functions[function], args...)
	if status := int32(status); status != 0 {
		return fmt.Errorf("%s: status %d", function, status)
	}
	return nil
}
