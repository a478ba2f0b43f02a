// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"strings"
)

// bitString returns the bits of a register as text, the highest first.
func bitString(t string, x uint64) string {
	n := oracleTypes[t]
	return fmt.Sprintf("%064b", x)[64-n:]
}

func fromBits(s string) (x uint64) {
	for _, c := range s {
		x = x<<1 | uint64(c-'0')
	}
	return x
}

// bitAt returns bit i of a register, counted from the lowest.
func bitAt(s string, i int) byte { return s[len(s)-1-i] }

func reverse(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// bitsAnswer returns the expected result of a bit operation, computed on text as in the manual's
// loops.
func bitsAnswer(q *question) answer {
	t := q.types[len(q.types)-1]
	a := bitString(t, q.in[0])
	width := len(a)
	switch q.head {
	case "popc":
		return value1(uint64(strings.Count(a, "1")))
	case "clz":
		return value1(uint64(width - len(strings.TrimLeft(a, "0"))))
	case "brev":
		return value1(fromBits(reverse(a)))
	case "bfind":
		sign := byte('0')
		if t[0] == 's' {
			sign = a[0]
		}
		for i := width - 1; i >= 0; i-- {
			if bitAt(a, i) != sign {
				if q.has("shiftamt") {
					return value1(uint64(width - 1 - i))
				}
				return value1(uint64(i))
			}
		}
		return value1(0xffffffff)
	case "bfe":
		return value1(
			fromBits(extract(a, t, fieldOperand(width, q.in[1]), fieldOperand(width, q.in[2]))))
	case "bfi":
		f := []byte(bitString(t, q.in[1]))
		pos, n := fieldOperand(width, q.in[2]), fieldOperand(width, q.in[3])
		for i := 0; i < n && pos+i < width && i < width; i++ {
			f[width-1-pos-i] = bitAt(a, i)
		}
		return value1(fromBits(string(f)))
	case "fns":
		return value1(nthSet(a, uint32(q.in[1]), int32(q.in[2])))
	case "szext", "bmsk":
		return value1(q.masks())
	case "shf":
		return value1(q.funnelShift())
	case "shl", "shr":
		return value1(q.shiftText(a, t))
	case "and", "or", "xor", "not", "cnot":
		return q.logicText(t)
	case "lop3":
		return q.lop3Text()
	case "prmt":
		return value1(q.permuteText())
	case "dp4a", "dp2a":
		return value1(q.dotText())
	}
	return answer{}
}

// fieldOperand decodes a position or a length: its low eight bits, or all 32 for 64-bit fields.
func fieldOperand(width int, x uint64) int {
	if width == 64 {
		return int(uint32(x))
	}
	return int(x % 256)
}

func extract(a, t string, pos, n int) string {
	width := len(a)
	sign := byte('0')
	if t[0] == 's' && n > 0 {
		sign = bitAt(a, min(pos+n-1, width-1))
	}
	var b strings.Builder
	for i := width - 1; i >= 0; i-- {
		if i < n && pos+i < width {
			b.WriteByte(bitAt(a, pos+i))
		} else {
			b.WriteByte(sign)
		}
	}
	return b.String()
}

func nthSet(mask string, base uint32, offset int32) uint64 {
	if offset == -1<<31 {
		return 0 // its magnitude is not representable
	}
	if base > 31 {
		return 0xffffffff
	}
	if offset == 0 {
		if bitAt(mask, int(base)) == '1' {
			return uint64(base)
		}
		return 0xffffffff
	}
	step, n := 1, int64(offset)
	if n < 0 {
		step, n = -1, -n
	}
	for pos := int(base); pos >= 0 && pos < 32; pos += step {
		if bitAt(mask, pos) == '1' {
			if n--; n == 0 {
				return uint64(pos)
			}
		}
	}
	return 0xffffffff
}

// masks computes szext and bmsk by the statements in the manual.
func (q *question) masks() uint64 {
	a, b := uint32(q.in[0]), uint32(q.in[1])
	clamp := q.has("clamp")
	if q.head == "szext" {
		b1 := b & 0x1f
		large := b >= 32 && clamp
		mask := uint32(0)
		if !large {
			mask = ^uint32(0) << b1
		}
		sign := !(b1 == 0 || large || !q.has("s32")) && a>>((b1-1)&0x1f)&1 == 1
		d := a &^ mask
		if sign {
			d |= mask
		}
		return uint64(d)
	}
	a1, b1 := a&0x1f, b&0x1f
	mask0, sum := ^uint32(0)<<a1, a1+b1
	mask1 := ^uint32(0) << sum
	position := clamp && a >= 32
	if position {
		mask0 = 0
	}
	switch {
	case sum >= 32 || position || clamp && b >= 32:
		mask1 = 0
	case b1 == 0:
		mask1 = ^uint32(0)
	}
	return uint64(mask0 &^ mask1)
}

func (q *question) funnelShift() uint64 {
	s := bitString("b32", q.in[1]) + bitString("b32", q.in[0])
	n := int(min(q.in[2]&0xffffffff, 32))
	if q.has("wrap") {
		n = int(q.in[2] & 31)
	}
	if q.has("l") {
		return fromBits((s + strings.Repeat("0", n))[n : n+32])
	}
	return fromBits(s[32-n : 64-n])
}

func (q *question) shiftText(a, t string) uint64 {
	width := len(a)
	n := int(min(q.in[1]&0xffffffff, uint64(width)))
	if q.head == "shl" {
		return fromBits((a + strings.Repeat("0", n))[n:])
	}
	fill := "0"
	if t[0] == 's' {
		fill = a[:1]
	}
	return fromBits((strings.Repeat(fill, n) + a)[:width])
}

func (q *question) logicText(t string) answer {
	if t == "pred" {
		a, b := q.in[0]&1 == 1, len(q.in) > 1 && q.in[1]&1 == 1
		r := map[string]bool{"and": a && b, "or": a || b, "xor": a != b, "not": !a}[q.head]
		return answer{pred: []bool{r}, ok: true}
	}
	width := oracleTypes[t]
	var d []byte
	for i := width - 1; i >= 0; i-- {
		x := q.in[0] >> i & 1
		y := uint64(0)
		if len(q.in) > 1 {
			y = q.in[1] >> i & 1
		}
		r := map[string]bool{"and": x+y == 2, "or": x+y > 0, "xor": x+y == 1, "not": x == 0}[q.head]
		d = append(d, "01"[btoi(r)])
	}
	if q.head == "cnot" {
		return value1(uint64(btoi(fromBits(bitString(t, q.in[0])) == 0)))
	}
	return value1(fromBits(string(d)))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (q *question) lop3Text() answer {
	var d uint64
	for i := range 32 {
		index := q.in[0]>>i&1*4 + q.in[1]>>i&1*2 + q.in[2]>>i&1
		d |= q.in[3] >> index & 1 << i
	}
	r := value1(d)
	switch {
	case q.has("or"):
		r.pred = []bool{d != 0 || q.pred}
	case q.has("and"):
		r.pred = []bool{d != 0 && q.pred}
	}
	return r
}

// permuteTable is the manual's table of source bytes for d.b3, d.b2, d.b1 and d.b0.
var permuteTable = map[string][4]string{
	"f4e": {"3210", "4321", "5432", "6543"}, "b4e": {"5670", "6701", "7012", "0123"},
	"rc8": {"0000", "1111", "2222", "3333"}, "ecl": {"3210", "3211", "3222", "3333"},
	"ecr": {"0000", "1110", "2210", "3210"}, "rc16": {"1010", "3232", "1010", "3232"},
}

func (q *question) permuteText() uint64 {
	bytes := [8]byte{}
	for i := range 4 {
		bytes[i], bytes[4+i] = byte(q.in[0]>>(8*i)), byte(q.in[1]>>(8*i))
	}
	var d uint64
	for mode, rows := range permuteTable {
		if q.has(mode) {
			for i, c := range rows[q.in[2]&3] {
				d |= uint64(bytes[c-'0']) << (8 * (3 - i))
			}
			return d
		}
	}
	for i := range 4 {
		c := q.in[2] >> (4 * i) & 15
		x := bytes[c&7]
		if c >= 8 {
			x = byte(int8(x) >> 7)
		}
		d |= uint64(x) << (8 * i)
	}
	return d
}

func (q *question) dotText() uint64 {
	a, b := q.types[0], q.types[1]
	sum := int64(int32(q.in[2]))
	for i := range 4 {
		switch {
		case q.head == "dp4a":
			x := number(a[:1]+"8", q.in[0]>>(8*i)).Int64()
			sum += x * number(b[:1]+"8", q.in[1]>>(8*i)).Int64()
		case i < 2:
			at := i
			if q.has("hi") {
				at += 2
			}
			x := number(a[:1]+"16", q.in[0]>>(16*i)).Int64()
			sum += x * number(b[:1]+"8", q.in[1]>>(8*at)).Int64()
		}
	}
	return uint64(uint32(sum))
}
