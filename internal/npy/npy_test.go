// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package npy

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBytes compares a file with the output of numpy.save(numpy.array([[1, 2, 3]], "<f4")).
func TestBytes(t *testing.T) {
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"
	want := "\x93NUMPY\x01\x00\x76\x00" + header + strings.Repeat(" ", 0x76-len(header)-1) + "\n" +
		"\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40"
	a := &Array{"f32", []int{1, 3}, []byte(want[len(want)-12:])}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, typ := range []string{"s8", "u8", "s16", "u16", "f16", "b16", "s32", "u32", "f32", "s64",
		"u64", "f64"} {
		for _, shape := range [][]int{{}, {0}, {5}, {2, 3}, {2, 1, 4}} {
			a := &Array{Type: typ, Shape: shape}
			a.Bytes = bytes.Repeat([]byte{7}, a.Len()*Size(typ))
			var b bytes.Buffer
			if err := a.Write(&b); err != nil {
				t.Fatal(err)
			}
			if n := b.Len() - len(a.Bytes); n%64 != 0 {
				t.Errorf("%s %v: the numbers begin at byte %d", typ, shape, n)
			}
			got, err := Read(&b)
			if err != nil {
				t.Fatalf("%s %v: %v", typ, shape, err)
			}
			if got.Bytes == nil {
				got.Bytes = []byte{}
			}
			if d := cmp.Diff(a, got); d != "" {
				t.Errorf("%s %v: %s", typ, shape, d)
			}
		}
	}
}

func TestWrong(t *testing.T) {
	file := func(version byte, header string, numbers string) string {
		n := binary.LittleEndian.AppendUint16(nil, uint16(len(header)))
		return magic + string([]byte{version, 0}) + string(n) + header + numbers
	}
	for _, test := range []struct{ text, want string }{
		{"", "not a .npy file"},
		{"PK\x03\x04 a .npz file", "not a .npy file"},
		{magic + "\x01", "not a .npy file"},
		{magic + "\x01\x00\x05", "cut off"},
		{magic + "\x01\x00\x05\x00ab", "cut off"},
		{magic + "\x02\x00\xff\xff\xff\xff", "too large: 4294967295 bytes"},
		{file(9, "", ""), "version 9"},
		{file(1, "{}", ""), "descr, fortran_order or shape is missing"},
		{file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234"),
			`type ">f4"`},
		{file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", "1234"),
			"column-major"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "1234"),
			"invalid shape"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999), }",
			"1234"), "invalid shape"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234"),
			"where the header says 8"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "12345"),
			"where the header says 4"},
		{file(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"),
			"descr, fortran_order or shape is missing"},
	} {
		if _, err := Read(strings.NewReader(test.text)); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v; %q is expected", test.text, err, test.want)
		}
	}
	for _, a := range []*Array{{"bf16", []int{1}, []byte("12")},
		{"f32", []int{2}, []byte("1234")}} {
		if a.Write(&bytes.Buffer{}) == nil {
			t.Errorf("%v is written", a)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(magic + "\x01\x00\x02\x00{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Read(bytes.NewReader(b))
		if err == nil && a.Write(&bytes.Buffer{}) != nil {
			t.Errorf("%v is read and cannot be written", a)
		}
	})
}
