// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"fmt"
	"slices"
	"strings"
)

// meantType returns the PTX type or scope for which a word of another language stands, or "" if
// the word stands for none.
func meantType(word string) string {
	switch strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(word), "."), "_t") {
	case "i8", "int8", "char":
		return ".s8"
	case "i16", "int16", "short":
		return ".s16"
	case "i32", "int32", "int":
		return ".s32"
	case "i64", "int64", "long":
		return ".s64"
	case "uint8", "uchar", "byte":
		return ".u8"
	case "uint16", "ushort":
		return ".u16"
	case "uint32", "uint", "unsigned":
		return ".u32"
	case "uint64", "ulong", "size":
		return ".u64"
	case "half", "float16", "fp16":
		return ".f16"
	case "bfloat16", "bfloat":
		return ".bf16"
	case "float", "float32", "fp32", "single":
		return ".f32"
	case "double", "float64", "fp64":
		return ".f64"
	case "bool", "predicate":
		return ".pred"
	case "block":
		return ".cta"
	case "device":
		return ".gpu"
	case "system":
		return ".sys"
	}
	return ""
}

// MeantName returns the PTX instruction that has the given name in another language, or "" if
// there is no such instruction.
func MeantName(word string) string {
	switch word {
	case "return":
		return "ret"
	case "goto", "jmp", "jump", "branch", "br":
		return "bra"
	case "load":
		return "ld"
	case "store":
		return "st"
	case "move":
		return "mov"
	case "exp", "exp2":
		return "ex2"
	case "log", "log2":
		return "lg2"
	case "cmp", "compare":
		return "setp"
	}
	return ""
}

// isAbbreviation reports whether word abbreviates long, as .acq abbreviates .acquire and .dn
// abbreviates .down.
func isAbbreviation(word, long string) bool {
	if len(word) >= len(long) || word[1] != long[1] {
		return false
	}
	if strings.HasPrefix(long, word) {
		return len(word) > 3
	}
	if word[len(word)-1] != long[len(long)-1] {
		return false
	}
	i := 0
	for j := 0; i < len(word) && j < len(long); j++ {
		if word[i] == long[j] {
			i++
		}
	}
	return i == len(word)
}

// differInNumbers reports whether two words differ only in their numbers, as .x3 and .x4 do.
func differInNumbers(a, b string) bool {
	strip := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(strip, a) == strings.Map(strip, b) && strings.ContainsAny(a, "0123456789") &&
		strings.ContainsAny(b, "0123456789")
}

// numberDistance returns the sum of the differences between the corresponding numbers in two
// words.
func numberDistance(a, b string) int {
	sum := 0
	for i, j := 0, 0; i < len(a) && j < len(b); i, j = i+1, j+1 {
		m, n := 0, 0
		for ; i < len(a) && a[i] >= '0' && a[i] <= '9'; i++ {
			m = min(m*10+int(a[i]-'0'), 1<<20)
		}
		for ; j < len(b) && b[j] >= '0' && b[j] <= '9'; j++ {
			n = min(n*10+int(b[j]-'0'), 1<<20)
		}
		sum += max(m-n, n-m)
	}
	return sum
}

// closestType returns the type in a list that most likely replaces another type: untyped bits of
// the same size, or the only integer type of the same size. It returns "" if there is none.
func closestType(word string, types []string) string {
	t, ok := ParseType(word)
	if !ok {
		return ""
	}
	if b := fmt.Sprintf(".b%d", t.Bits()); b != word && slices.Contains(types, b) {
		return b
	}
	found := ""
	for _, w := range types {
		if o, ok := ParseType(w); ok && w != word && o.Bits() == t.Bits() && o.Whole() &&
			t.Whole() {
			if found != "" {
				return ""
			}
			found = w
		}
	}
	return found
}

// lackingTypes returns the types that the closest forms require, if best has no type modifier and
// another form requires a different type.
func (m *Matcher) lackingTypes(list []*Instruction, mods []Mod, best *mismatch,
	slot *Slot) []string {
	var out []string
	forms := 0
	add := func(s *Slot) bool {
		for _, v := range s.Values {
			w := m.set.Mods[v.Mod]
			if _, ok := ParseType(w); !ok {
				return false
			}
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
		return true
	}
	if len(best.missing) != 1 || !add(slot) {
		return nil
	}
	for _, ins := range list {
		for i := range ins.Forms {
			f := &ins.Forms[i]
			x := assignMost(f, mods)
			if x.cost == best.cost && len(x.unmatched) == len(best.unmatched) &&
				len(x.missing) == 1 &&
				f != best.form && add(&f.Slots[x.missing[0]]) {
				forms++
			}
		}
	}
	if forms == 0 {
		return nil
	}
	slices.Sort(out)
	const most = 16
	if n := len(out); n > most {
		out = append(out[:most], fmt.Sprintf("or %d more", n-most))
	}
	return out
}
