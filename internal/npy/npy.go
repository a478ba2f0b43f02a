// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package npy reads and writes arrays in the NPY format of NumPy. It supports little-endian numbers
// and row-major arrays.
package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// An Array is an array of numbers of one type. Bytes are in little-endian, row-major order.
type Array struct {
	Type  string // PTX type: f32, s8, u64; b16 is a 2-byte type that NumPy lacks, such as bf16
	Shape []int
	Bytes []byte
}

// Len returns the number of elements.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// words maps the type names of NumPy to PTX types.
func words() map[string]string {
	return map[string]string{
		"|i1": "s8", "|u1": "u8", "|b1": "u8", "<i2": "s16", "<u2": "u16", "<i4": "s32",
		"<u4": "u32", "<i8": "s64", "<u8": "u64",
		"<f2": "f16", "<f4": "f32", "<f8": "f64", "|V2": "b16", "<V2": "b16",
	}
}

// Size returns the size of an element in bytes, or 0 for an unsupported type.
func Size(t string) int {
	n, err := strconv.Atoi(strings.TrimLeft(t, "bfsu"))
	if err != nil || n%8 != 0 {
		return 0
	}
	return n / 8
}

const magic = "\x93NUMPY"

// maxHeader is the maximum accepted header size in bytes; typical headers have a few hundred
// bytes.
const maxHeader = 1 << 20

// Read reads an array in NPY format.
func Read(r io.Reader) (*Array, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:6]) != magic {
		return nil, fmt.Errorf("not a .npy file")
	}
	var length uint32
	switch head[6] {
	case 1:
		var n uint16
		if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
			return nil, fmt.Errorf("the header is cut off: %w", err)
		}
		length = uint32(n)
	case 2, 3:
		if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
			return nil, fmt.Errorf("the header is cut off: %w", err)
		}
	default:
		return nil, fmt.Errorf("unknown format version %d, expected 1 to 3", head[6])
	}
	if length > maxHeader {
		return nil, fmt.Errorf("the header is too large: %d bytes", length)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("the header is cut off: %w", err)
	}
	a, err := parse(string(header))
	if err != nil {
		return nil, err
	}
	need := int64(a.Len()) * int64(Size(a.Type))
	// The amount of memory depends on the number of bytes in the file, not on the size that the
	// header specifies.
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(r, need+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) != need {
		return nil, fmt.Errorf("%d or more bytes of numbers, where the header says %d", b.Len(),
			need)
	}
	a.Bytes = b.Bytes()
	return a, nil
}

// parse parses the header, a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape':
// (2, 3), }.
func parse(header string) (*Array, error) {
	descr := regexp.MustCompile(`'descr':\s*'([^']*)'`).FindStringSubmatch(header)
	order := regexp.MustCompile(`'fortran_order':\s*(True|False)`).FindStringSubmatch(header)
	shape := regexp.MustCompile(`'shape':\s*\(([^)]*)\)`).FindStringSubmatch(header)
	if descr == nil || order == nil || shape == nil {
		return nil, fmt.Errorf("invalid header %q: descr, fortran_order or shape is missing",
			strings.TrimSpace(header))
	}
	a := &Array{Type: words()[descr[1]], Shape: []int{}}
	if a.Type == "" {
		return nil, fmt.Errorf("unknown element type %q", descr[1])
	}
	total := 1
	for _, word := range strings.Split(shape[1], ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > 0 && total > (1<<40)/n {
			return nil, fmt.Errorf("invalid shape (%s)", shape[1])
		}
		total *= n
		a.Shape = append(a.Shape, n)
	}
	if order[1] == "True" && len(a.Shape) > 1 {
		return nil, fmt.Errorf("the array is column-major; save numpy.ascontiguousarray(x) instead")
	}
	return a, nil
}

// Write writes the array in NPY format.
func (a *Array) Write(w io.Writer) error {
	descr := ""
	for word, t := range words() {
		if t == a.Type && word != "|b1" && word != "<V2" {
			descr = word
		}
	}
	if descr == "" {
		return fmt.Errorf("NumPy has no type for %s", a.Type)
	}
	if len(a.Bytes) != a.Len()*Size(a.Type) {
		return fmt.Errorf("%d bytes for %d numbers of type %s", len(a.Bytes), a.Len(), a.Type)
	}
	shape := ""
	for _, n := range a.Shape {
		shape += strconv.Itoa(n) + ", "
	}
	if len(a.Shape) > 1 {
		shape = strings.TrimSuffix(shape, ", ")
	} else {
		shape = strings.TrimSuffix(shape, " ")
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	// The data begins at a multiple of 64 bytes.
	pad := 63 - (10+len(header))%64
	header += strings.Repeat(" ", pad) + "\n"
	out := append([]byte(magic), 1, 0, byte(len(header)), byte(len(header)>>8))
	if _, err := w.Write(append(out, header...)); err != nil {
		return err
	}
	_, err := w.Write(a.Bytes)
	return err
}
