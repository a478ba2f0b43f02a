// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// Input limits in bytes, which the help of the commands states.
const (
	maxFileBytes = math.MaxInt32 - 16 // for a regular file; positions in a module have 32 bits
	// maxStreamBytes is the limit for standard input, a pipe or a device, which may be endless.
	maxStreamBytes = 256 << 20
)

// read returns the text of an input.
func (in *input) read(stdin io.Reader) (string, error) {
	if in.err != nil {
		return "", in.err
	}
	src, most := stdin, int64(maxStreamBytes)
	if in.info != nil {
		if in.weight() > maxFileBytes {
			return "", fmt.Errorf("%s: file has %d bytes, but at most %d can be read", in.name,
				in.weight(), int64(maxFileBytes))
		}
		f, err := os.Open(in.name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		src = f
	}
	if in.info != nil && in.info.Mode().IsRegular() {
		most = maxFileBytes
	}
	text, err := readText(src, most, in.weight())
	if err != nil && !errors.As(err, new(*os.PathError)) {
		err = fmt.Errorf("%s: %w", in.name, err)
	}
	return text, err
}

// readText reads text of at most `most` bytes; size is the expected number of bytes. It stops at
// a byte that PTX cannot contain, because a device may be endless.
func readText(src io.Reader, most, size int64) (string, error) {
	var b strings.Builder
	b.Grow(int(size) + 1)
	chunk := make([]byte, 64<<10)
	for {
		n, err := src.Read(chunk)
		b.Write(chunk[:n])
		if bytes.IndexByte(chunk[:n], 0) >= 0 {
			return "", errors.New(notText(b.String()))
		}
		switch {
		case int64(b.Len()) > most:
			return "", fmt.Errorf("input has more than %d bytes, the limit", most)
		case errors.Is(err, io.EOF):
			return b.String(), nil
		case err != nil:
			return "", err
		}
	}
}

// notText returns a description of the format of a text that is not PTX, or "".
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
	if i == len(s)-1 && i > 0 {
		return "not PTX text: the last byte is NUL (NVRTC counts it in the size of its PTX; remove it)"
	}
	return fmt.Sprintf("not PTX text: byte %d is NUL", i)
}
