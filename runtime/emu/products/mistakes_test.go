// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestMistakes checks that a kernel with one wrong constant computes a wrong result.
func TestMistakes(t *testing.T) {
	var (
		plain = productCase{x: isa.Bf16, y: isa.Bf16, rows: 128, cols: 64, depth: 64,
			swizzle: dsl.Swizzle128, stages: 2}
		low = productCase{x: isa.Bf16, y: isa.Bf16, rows: 64, cols: 64, depth: 64,
			swizzle: dsl.Swizzle128, stages: 2}
		turned = productCase{x: isa.Bf16, y: isa.Bf16, rows: 128, cols: 128, depth: 64, turnY: true,
			swizzle: dsl.Swizzle128, stages: 2}
		nvfp4 = productCase{x: isa.E2m1, y: isa.E2m1, scale: dsl.NVFP4, rows: 128, cols: 256,
			depth: 256, swizzle: dsl.Swizzle128, stages: 2}
		mxfp8 = productCase{x: isa.E4m3, y: isa.E4m3, scale: dsl.MXFP8, rows: 128, cols: 128,
			depth: 128, swizzle: dsl.Swizzle128, stages: 2}
		pair = productCase{x: isa.E2m1, y: isa.E2m1, scale: dsl.NVFP4, rows: 256, cols: 256,
			depth: 256, swizzle: dsl.Swizzle128, stages: 2}
		sparse = productCase{x: isa.F16, y: isa.F16, rows: 128, cols: 64, depth: 64, sparse: true,
			swizzle: dsl.Swizzle128, stages: 2}
	)
	// bits flips bits of a matrix descriptor, selected by its order in the text.
	bits := func(which int, flip uint64) func(string) string {
		return func(text string) string {
			n := 0
			return regexp.MustCompile(
				`(or\.b64\s+%\w+, %\w+, )(0x[0-9a-f]+|\d+);`).ReplaceAllStringFunc(text,
				func(s string) string {
					if n++; n-1 != which {
						return s
					}
					head, number, _ := strings.Cut(strings.TrimSuffix(s, ";"), ", ")
					reg, number, _ := strings.Cut(number, ", ")
					x, _ := strconv.ParseUint(number, 0, 64)
					return head + ", " + reg + ", 0x" + strconv.FormatUint(x^flip, 16) + ";"
				})
		}
	}
	// order flips bits of an instruction descriptor, a constant that is moved to a register at the
	// start of the role.
	order := func(which int, flip uint64) func(string) string {
		return func(text string) string {
			n := 0
			return regexp.MustCompile(
				`mov\.b32\s+%\w+, (0x[0-9a-f]{6,}|\d{6,});`).ReplaceAllStringFunc(text,
				func(s string) string {
					if n++; n-1 != which {
						return s
					}
					head, number, _ := strings.Cut(strings.TrimSuffix(s, ";"), ", ")
					x, _ := strconv.ParseUint(number, 0, 64)
					return head + ", 0x" + strconv.FormatUint(x^flip, 16) + ";"
				})
		}
	}
	words := func(old, with string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, with, 1) }
	}
	pattern := func(old, with string) func(string) string {
		return func(text string) string {
			r := regexp.MustCompile(old)
			at := r.FindStringSubmatchIndex(text)
			if at == nil {
				return text
			}
			return text[:at[0]] + string(r.ExpandString(nil, with, text, at)) + text[at[1]:]
		}
	}
	for _, m := range []struct {
		what string
		c    productCase
		edit func(string) string
	}{
		{"the stride of A", plain, bits(0, 0x40<<32)},
		{"the stride of B", plain, bits(1, 0x60<<32)},
		{"the swizzle of B", plain, bits(1, 6<<61)},
		{"the constant of a descriptor", plain, bits(0, 1<<46)},
		{"the leading offset of a turned tile", turned, bits(1, 0x40<<16)},
		{"the stride of a turned tile", turned, bits(1, 0xc0<<32)},
		{"a tile that is turned and not said to be", turned, order(0, 1<<16)},
		{"the columns of an instruction", plain, order(0, 3<<17)},
		{"the rows of an instruction", low, order(0, 12<<24)},
		{"the type of A", plain, order(0, 1<<7)},
		{"the sums", plain, order(0, 1<<4)},
		{"the step along the depth", plain, pattern(`(add\.u64\s+%\w+, %\w+, )2;`, "${1}4;")},
		{"where the accumulator is read", plain,
			pattern(`(tcgen05\.ld[^\[]*\[)(%\w+)\]`, "${1}%tmem]")},
		{"the quarter that a warp reads", plain,
			pattern(`(shl\.b32\s+%\w+, %\w+, )21;`, "${1}20;")},
		{"the stride of scale factors", nvfp4, bits(2, 0x18<<32)},
		{"the columns of factors of A", nvfp4,
			pattern(`(add\.u32\s+%\w+, %tmem, )260;`, "${1}261;")},
		{"the columns of factors of B", nvfp4,
			pattern(`(add\.u32\s+%\w+, %tmem, )280;`, "${1}276;")},
		{"the type of factors", nvfp4, order(0, 1<<23)},
		{"which factor of a column, A", mxfp8, order(1, 3<<29)},
		{"which factor of a column, B", mxfp8, order(2, 1<<4)},
		{"the columns that factors are copied to", nvfp4,
			pattern(`(add\.u32\s+%\w+, %\w+, )8;`, "${1}12;")},
		{"how factors are copied", nvfp4, words(".32x128b.warpx4", ".128x128b")},
		{"the quarters that factors are copied to", nvfp4,
			words("32x128b.warpx4", "64x128b.warpx2::01_23")},
		{"one block of a pair", pair, words("tcgen05.cp.cta_group::2", "tcgen05.cp.cta_group::1")},
		{"the product of one block", pair,
			words("tcgen05.mma.cta_group::2", "tcgen05.mma.cta_group::1")},
		{"which column tells zeros", sparse, order(0, 1)},
		{"the columns that tell zeros", sparse,
			pattern(`(tcgen05\.cp\.cta_group::1\.128x128b \[)%\w+`, "${1}%tmem")},
	} {
		d := New("sm_100a")
		changed := false
		d.Edit = func(text string) string {
			out := m.edit(text)
			changed = out != text
			return out
		}
		err := m.c.run(d)
		switch {
		case !changed:
			t.Errorf("%s: the edit changes nothing", m.what)
		case err == nil:
			t.Errorf("%s: the mistake is not detected", m.what)
		default:
			t.Logf("%s: %v", m.what, err)
		}
	}
}
