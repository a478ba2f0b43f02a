// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// pack encodes instructions in the format that isa/packed.go reads.
func pack(table []isa.Instruction) []byte {
	p := &packer{times: map[string]int{}, at: map[string]int{}, numbers: map[reflect.Type]int{},
		texts: map[string]int{}}
	for i := range table {
		p.note(reflect.ValueOf(table[i].Repeats))
		p.note(reflect.ValueOf(table[i].Forms))
	}
	head := binary.AppendUvarint(nil, uint64(len(table)))
	for i := range table {
		begin := len(p.out)
		ins := &table[i]
		p.value(reflect.ValueOf(ins.Repeats))
		p.value(reflect.ValueOf(ins.Forms))
		p.text(ins.Family)
		p.text(ins.What)
		head = append(binary.AppendUvarint(head, uint64(len(table[i].Name))), table[i].Name...)
		head = binary.AppendUvarint(head, uint64(len(p.out)-begin))
	}
	for _, i := range isa.SortNames(table) {
		head = binary.AppendUvarint(head, uint64(i))
	}
	return append(head, p.out...)
}

// A packer encodes values of the model. Strings, and lists that occur several times, are written
// once.
type packer struct {
	out     []byte
	times   map[string]int       // number of occurrences of each list, by type and contents
	at      map[string]int       // positions of lists that occur several times
	numbers map[reflect.Type]int // number of such lists written so far, by type
	texts   map[string]int       // positions of strings
}

// note counts the occurrences of the lists in v, including nested ones. The contents of a repeated
// list are counted once.
func (p *packer) note(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p.note(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			p.note(v.Field(i))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		k := key(v)
		if p.times[k]++; p.times[k] > 1 {
			return
		}
		for i := range v.Len() {
			p.note(v.Index(i))
		}
	}
}

// value encodes v.
func (p *packer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		p.text(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.out = binary.AppendVarint(p.out, v.Int())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.out = binary.AppendUvarint(p.out, v.Uint())
	case reflect.Bool: // always true, because zero fields are omitted
	case reflect.Pointer:
		p.value(v.Elem())
	case reflect.Struct:
		p.fields(v)
	case reflect.Slice:
		p.list(v)
	default:
		panic("bug: packing of " + v.Kind().String())
	}
}

// fields encodes a struct: the set of non-zero fields, and their values. A form is preceded by its
// length.
func (p *packer) fields(v reflect.Value) {
	if v.Type() == reflect.TypeFor[isa.Form]() {
		begin := len(p.out)
		p.out = append(p.out, 0, 0)
		defer func() {
			n := len(p.out) - begin - 2
			if n > 0xffff {
				panic("bug: a form of " + strconv.Itoa(n) + " bytes")
			}
			binary.LittleEndian.PutUint16(p.out[begin:], uint16(n))
		}()
	}
	var set uint64
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && !v.Field(i).IsZero() {
			set |= 1 << i
		}
	}
	p.out = binary.AppendUvarint(p.out, set)
	for i := range v.NumField() {
		if set>>i&1 != 0 {
			p.value(v.Field(i))
		}
	}
}

// Markers that begin a list, as in isa/packed.go.
const (
	listNil = iota
	listAgain
	listOnce
	listOften
)

// list encodes a list, or a reference to an earlier equal one.
func (p *packer) list(v reflect.Value) {
	if v.IsNil() {
		p.out = append(p.out, listNil)
		return
	}
	begin, size := len(p.out), uint64(2*v.Len())
	if k := key(v); p.times[k] < 2 {
		p.out = binary.AppendUvarint(p.out, listOnce+size)
	} else if at, ok := p.at[k]; ok {
		p.out = append(p.out, listAgain)
		p.out = binary.AppendUvarint(p.out, uint64(begin-at))
		return
	} else {
		p.at[k] = begin
		p.out = binary.AppendUvarint(p.out, listOften+size)
		p.out = binary.AppendUvarint(p.out, uint64(p.numbers[v.Type()]))
		p.numbers[v.Type()]++
	}
	for i := range v.Len() {
		p.value(v.Index(i))
	}
}

// text encodes a string, or a reference to an earlier equal one.
func (p *packer) text(text string) {
	begin := len(p.out)
	size := uint64(len(text)) << 1
	if at, ok := p.texts[text]; ok {
		p.out = binary.AppendUvarint(p.out, size|1)
		p.out = binary.AppendUvarint(p.out, uint64(begin-at))
		return
	}
	p.out = binary.AppendUvarint(p.out, size)
	p.texts[text] = len(p.out)
	p.out = append(p.out, text...)
}

// key returns a string that is equal for lists with the same type and contents.
func key(v reflect.Value) string {
	var b strings.Builder
	b.WriteString(v.Type().String())
	spell(&b, v)
	return b.String()
}

// spell writes the contents of v in a form that key compares.
func spell(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteByte('&')
		spell(b, v.Elem())
	case reflect.Struct:
		b.WriteByte('{')
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spell(b, v.Field(i))
				b.WriteByte(',')
			}
		}
		b.WriteByte('}')
	case reflect.Slice:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			spell(b, v.Index(i))
			b.WriteByte(',')
		}
		b.WriteByte(']')
	default:
		fmt.Fprintf(b, "%#v", v.Interface())
	}
}
