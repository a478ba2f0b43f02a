// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// standardInput is what a file without a name is called in messages.
const standardInput = "<standard input>"

// An input is a file to work on, or why there is none.
type input struct {
	name string      // as given, or as found under a folder that was given
	info fs.FileInfo // of the file behind a link; nil for standard input
	err  error
}

// weight is how much memory the input is likely to take, in bytes of source.
func (in *input) weight() int64 {
	if in.info == nil || !in.info.Mode().IsRegular() {
		return 0
	}
	return in.info.Size()
}

// walk finds the files that paths name: a file is itself, whatever it is called; a folder is all
// files in and under it whose names end in .ptx and do not begin with a dot, in lexical order.
func walk(paths []string, yield func(input) bool) {
	for _, path := range paths {
		if !walkOne(path, yield) {
			return
		}
	}
}

func walkOne(path string, yield func(input) bool) bool {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if path == "-" && errors.Is(err, fs.ErrNotExist) {
			err = errors.New("-: no such file (without a file, standard input is read)")
		} else if strings.HasPrefix(path, "-") && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file (flags must come before the files)", path)
		}
		return yield(input{name: path, err: err})
	case !info.IsDir():
		return yield(input{name: path, info: info})
	}
	found, stopped := false, false
	// A link to a folder is followed where it was given by name, which WalkDir does for "link/.".
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
		}
		found = true
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

// An emptyFolder is a folder without PTX.
type emptyFolder struct{ path string }

func (e emptyFolder) Error() string { return e.path + ": no .ptx files in this directory" }

// read is the text of an input.
func (in *input) read(stdin io.Reader) (string, error) {
	if in.err != nil {
		return "", in.err
	}
	src := stdin
	var b strings.Builder
	if in.info != nil {
		f, err := os.Open(in.name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		src = f
		b.Grow(int(in.weight()) + 1)
	}
	if _, err := io.Copy(&b, src); err != nil {
		return "", fmt.Errorf("%s: %w", in.name, err)
	}
	text := b.String()
	if what := notText(text); what != "" {
		return "", fmt.Errorf("%s: %s", in.name, what)
	}
	return text, nil
}

// notText says what a text is instead of PTX, or "".
func notText(s string) string {
	i := strings.IndexByte(s, 0)
	switch {
	case i < 0:
		return ""
	case strings.HasPrefix(s, "\x7fELF"):
		return "not PTX text but an ELF file (a cubin, an object or a program)"
	case strings.HasPrefix(s, "\x50\xed\x55\xba"):
		return "not PTX text but a fat binary (cuobjdump -ptx shows the PTX in it)"
	case strings.HasPrefix(s, "\xff\xfe"), strings.HasPrefix(s, "\xfe\xff"):
		return "not PTX text but UTF-16 (PTX is ASCII or UTF-8)"
	case strings.HasPrefix(s, "BC\xc0\xde"):
		return "not PTX text but LLVM bitcode"
	}
	return fmt.Sprintf("not PTX text: byte %d is NUL", i)
}
