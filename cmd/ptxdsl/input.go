// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// standardInput is the name of standard input in messages.
const standardInput = "<standard input>"

// An input is a file to process, or the error that prevents it.
type input struct {
	name string      // as given, or as found in a given directory
	info fs.FileInfo // of the target of a link, or nil for standard input
	err  error
}

// weight returns how much memory the input is likely to take, in bytes of source.
func (in *input) weight() int64 {
	if in.info == nil || !in.info.Mode().IsRegular() {
		return 0
	}
	return in.info.Size()
}

// inputs returns the files that the arguments of c name, or standard input for - or without
// arguments. If ok is false, the command returns code. A command that rewrites files passes the
// name of its flag as rewrites; others pass "".
func (c *call) inputs(rewrites string) (list func(yield func(input) bool), code int, ok bool) {
	paths := c.flags.Args()
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	if first := slices.Index(paths, "-"); first >= 0 {
		if slices.Contains(paths[first+1:], "-") {
			return nil, c.misuse("- is given twice; standard input is read once"), false
		}
		if rewrites != "" {
			return nil, c.trouble(fmt.Errorf("error: cannot use %s with standard input", rewrites)),
				false
		}
	}
	return func(yield func(input) bool) { walk(paths, yield) }, exitClean, true
}

// walk finds the files that paths name: - is standard input, and a file is itself, whatever its
// name. A directory means all files below it whose names end in .ptx and do not start with a dot,
// in lexical order.
func walk(paths []string, yield func(input) bool) {
	for _, path := range paths {
		if path == "-" && !yield(input{name: standardInput}) ||
			path != "-" && !walkOne(path, yield) {
			return
		}
	}
}

func walkOne(path string, yield func(input) bool) bool {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if strings.HasPrefix(path, "-") && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file (flags must come before the files)", path)
		}
		return yield(input{name: path, err: err})
	case !info.IsDir():
		return yield(input{name: path, info: info})
	}
	found, stopped := false, false
	// A link to a directory is followed if it was given by name; WalkDir does that for "link/.".
	root := path
	if l, err := os.Lstat(path); err == nil && l.Mode()&fs.ModeSymlink != 0 {
		root = path + string(filepath.Separator)
	}
	_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		in := input{name: file, err: err}
		switch {
		case err != nil:
		case d.IsDir() || strings.HasPrefix(d.Name(), ".") || !strings.HasSuffix(d.Name(), ".ptx"):
			return nil
		default:
			if in.info, in.err = os.Stat(file); in.err == nil && in.info.IsDir() {
				return nil
			}
			if in.err == nil && !in.info.Mode().IsRegular() {
				in.err = skippedFile{file, kindOf(in.info.Mode())}
			}
		}
		found = found || !errors.As(in.err, &skippedFile{})
		if stopped = !yield(in); stopped {
			return fs.SkipAll
		}
		return nil
	})
	if !found && !stopped {
		return yield(input{name: path, err: emptyFolder{path}})
	}
	return !stopped
}

// An emptyFolder is a directory without PTX.
type emptyFolder struct{ path string }

func (e emptyFolder) Error() string { return e.path + ": no .ptx files in this directory" }

// A skippedFile is a file in a directory that is not regular. Reading it may block forever.
type skippedFile struct{ path, kind string }

func (s skippedFile) Error() string {
	return s.path + ": skipped: " + s.kind + ", not a regular file (name it to read it)"
}

// kindOf names the kind of a file that is not regular.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// harmless reports whether an error does not change the exit code: all requested files could be
// read.
func harmless(err error) bool { return errors.As(err, &skippedFile{}) }
