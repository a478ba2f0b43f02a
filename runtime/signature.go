// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Param is a parameter of a kernel.
type Param struct {
	Name   string // "" for a cubin
	Type   string // PTX type such as u64, f32 or b8; "" for a cubin
	Size   int    // in bytes
	Align  int
	Offset int  // offset in the parameter space
	Count  int  // number of elements of an array, or 0 for other types
	Points bool // whether it is declared as a pointer
	Aligns int  // declared alignment of a pointer, or 0 if it is not declared
	// Target is the element type of a pointer or tensor map, such as bf16, if the source provides
	// it.
	Target string
	Box    *Box // box of a tensor map, if the source provides it
}

// A Box is the part of a tensor that one copy through a tensor map transfers.
type Box struct {
	Sizes   []int // outermost first; for im2col all are zero except the last, the channels
	Pixels  int   // number of pixels of an im2col copy, or 0 for other copies
	Swizzle int   // in bytes
}

// equal reports whether two boxes are the same. A box of one row equals a box of a matrix with
// one row.
func (b *Box) equal(o *Box) bool {
	return slices.Equal(b.Sizes, o.Sizes) && b.Pixels == o.Pixels && b.Swizzle == o.Swizzle
}

// describe describes the box and its element type for messages, such as "boxes of 64x32 bf16 with
// a swizzle of 128".
func (b *Box) describe(word string) string {
	what := fmt.Sprintf("boxes of %s %s",
		strings.Trim(strings.ReplaceAll(fmt.Sprint(b.Sizes), " ", "x"), "[]"), word)
	if b.Pixels > 0 {
		what = fmt.Sprintf("%d pixels of %d channels of %s in %d dimensions", b.Pixels,
			b.Sizes[len(b.Sizes)-1], word, len(b.Sizes))
	}
	return fmt.Sprintf("%s with a swizzle of %d", what, b.Swizzle)
}

// A signature holds the parameters and launch properties that a kernel declares.
type signature struct {
	params      []Param
	size        int
	known       bool // the sizes of all parameters are known
	block       [3]int
	maxThreads  int // declared maximum number of threads per block
	cluster     [3]int
	mustCluster bool // whether the launch must specify a cluster size
}

// signatures returns the declarations of the kernels in a text, by name, and the target of the
// module. It does not report errors in the text; the assembler does.
func signatures(name, text string) (entries map[string]*signature, target string) {
	f, _ := ptx.Parse(name, text)
	entries = make(map[string]*signature)
	for _, n := range f.Decls {
		switch n := n.(type) {
		case *ptx.Directive:
			if n.Name.Text == ".target" && len(n.Args) > 0 {
				target = n.Args[0].Text
			}
		case *ptx.Func:
			if n.Kind.Text == ".entry" && n.Body != nil {
				entries[n.Name.Text] = read(n)
			}
		}
	}
	return entries, target
}

// read returns the signature of a kernel.
func read(n *ptx.Func) *signature {
	s := &signature{known: true}
	for _, v := range n.Params {
		for _, d := range v.Names {
			s.param(v, d)
		}
	}
	for _, a := range n.Attrs {
		var dims [3]int
		product := 1
		for i, arg := range a.Args {
			v, err := strconv.Atoi(arg.Text)
			if err != nil || i > 2 {
				break
			}
			dims[i] = v
		}
		for i := range dims {
			dims[i] = max(1, dims[i])
			product *= dims[i]
		}
		switch a.Name.Text {
		case ".reqntid":
			s.block = dims
		case ".maxntid":
			s.maxThreads = product
		case ".reqnctapercluster":
			s.cluster = dims
		case ".explicitcluster":
			s.mustCluster = true
		}
	}
	return s
}

// sizes returns the size of a PTX type in bytes, or 0.
func sizes(word string) int {
	switch word {
	case "u8", "s8", "b8", "e4m3", "e5m2":
		return 1
	case "u16", "s16", "b16", "f16", "bf16":
		return 2
	case "u32", "s32", "b32", "f32", "f16x2", "bf16x2", "tf32":
		return 4
	case "u64", "s64", "b64", "f64", "f32x2":
		return 8
	case "b128":
		return 16
	}
	return 0
}

// param adds a parameter to s.
func (s *signature) param(v *ptx.Var, d ptx.Declarator) {
	p := Param{Name: d.Name.Text, Type: strings.TrimPrefix(v.Type.Text, ".")}
	p.Size = sizes(p.Type)
	p.Align = p.Size
	switch v.Vec.Text {
	case ".v2":
		p.Size *= 2
	case ".v4":
		p.Size *= 4
	}
	for _, dim := range d.Dims {
		n, err := strconv.ParseInt(dim.Text, 0, 32)
		if err != nil {
			n = 0
		}
		p.Count = max(1, p.Count) * int(n)
		p.Size *= int(n)
	}
	for _, a := range v.Attrs {
		// .align after .ptr applies to the memory to which the pointer refers, .align before the
		// type to the parameter
		switch a.Name.Text {
		case ".ptr":
			p.Points = true
		case ".align":
			n := 0
			for _, arg := range a.Args {
				n, _ = strconv.Atoi(arg.Text)
			}
			switch {
			case p.Points:
				p.Aligns = n
			// after the type, .align also applies to the memory
			case v.Type.Text == "" || a.At < v.Type.At:
				p.Align = n
			}
		}
	}
	if p.Size == 0 || p.Align == 0 {
		s.known = false
		p.Align = max(1, p.Align)
	}
	p.Offset = (s.size + p.Align - 1) / p.Align * p.Align
	s.size = p.Offset + p.Size
	s.params = append(s.params, p)
}

// isTensorMap reports whether a parameter is a tensor map.
func (p *Param) isTensorMap() bool { return p.Size == 128 && p.Align >= 64 && p.Count > 0 }

// String formats the parameter for messages.
func (p *Param) String() string {
	switch {
	case p.Type == "":
		return fmt.Sprintf("%d bytes", p.Size)
	case p.isTensorMap():
		return "." + p.Type + "[" + strconv.Itoa(p.Count) + "], a tensor map"
	case p.Count > 0:
		return "." + p.Type + "[" + strconv.Itoa(p.Count) + "]"
	case p.Target != "":
		return "a pointer to " + p.Target
	case p.Points:
		return "a pointer"
	}
	return "." + p.Type
}

// misfit returns the reason why a module for a target cannot run on a device, or "". It applies
// the rules for the three kinds of targets, so that it needs no list of targets.
func misfit(target string, info device.Info) string {
	number, found := strings.CutPrefix(target, "sm_")
	if !found || info.AllTargets {
		return ""
	}
	digits := strings.TrimRight(number, "af")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return ""
	}
	have := info.Capability
	ok := have >= n
	switch number[len(digits):] {
	case "a":
		ok = have == n
	case "f":
		ok = have >= n && have/10 == n/10
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("it is built for %s, but %s, %s, runs %s", target, info.Place, info.Name,
		info.Target)
}
