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

// An input is a file to process, or the error that prevents processing it.
type input struct {
	name string      // path as given, or as found in a given directory
	info fs.FileInfo // info of the file to which a link refers; nil for standard input
	err  error
}

// weight returns an estimate of the memory that the input needs, in bytes of source.
func (in *input) weight() int64 {
	if in.info == nil || !in.info.Mode().IsRegular() {
		return 0
	}
	return in.info.Size()
}

// inputs returns the files that the arguments name, or standard input if the argument is - or
// missing. If ok is false, the command must return code. A command that rewrites files passes the
// name of the flag that requests it as rewrites; other commands pass "".
func (c *call) inputs(rewrites string) (list func(yield func(input) bool), code int, ok bool) {
	paths := c.flags.Args()
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	if first := slices.Index(paths, "-"); first >= 0 {
		if slices.Contains(paths[first+1:], "-") {
			return nil, c.reportMisuse("- is given twice; standard input is read once"), false
		}
		if rewrites != "" {
			return nil, c.reportTrouble(fmt.Errorf("error: cannot use %s with standard input",
					rewrites)),
				false
		}
	}
	return func(yield func(input) bool) { walk(paths, yield) }, exitClean, true
}

// walk yields the files that paths name. - is standard input. A file is yielded whatever its
// name. A directory stands for all files below it whose names end in .ptx and do not start with a
// dot, in lexical order.
func walk(paths []string, yield func(input) bool) {
	for _, path := range paths {
		if path == "-" && !yield(input{name: standardInput}) ||
			path != "-" && !walkOne(path, yield) {
			return
		}
	}
}

// statError removes the name of the system call from an error of os.Stat.
func statError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	return err
}

// walkOne yields the inputs of one path: a file, or the PTX files of a directory. It returns false
// if yield does.
func walkOne(path string, yield func(input) bool) bool {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if strings.HasPrefix(path, "-") && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file (flags must come before the files)", path)
		}
		return yield(input{name: path, err: statError(err)})
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
			in.err = statError(in.err)
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

// An emptyFolder is the error for a directory without PTX files.
type emptyFolder struct{ path string }

func (e emptyFolder) Error() string { return e.path + ": no .ptx files in this directory" }

// A skippedFile is the error for a file in a directory that is not a regular file. Reading it
// could block forever.
type skippedFile struct{ path, kind string }

func (s skippedFile) Error() string {
	return s.path + ": skipped: " + s.kind + ", not a regular file (name it to read it)"
}

// kindOf returns the kind of a file that is not a regular file, for messages.
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

// isHarmless reports whether an error does not change the exit code, because it concerns a file
// that was not named.
func isHarmless(err error) bool { return errors.As(err, &skippedFile{}) }
