// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// A Program is a module with indexes of its declarations. It does not change, so that any number of
// devices may load it.
type Program struct {
	ir        *ir.Module
	defined   map[string]*ir.Func
	functions []*ir.Func        // indexed by their addresses
	variables []*ir.Var         // variables of the module, followed by those of its functions
	files     map[string]string // files of .file, by number
}

// A module is a loaded PTX module.
type module struct {
	*Program
	entries   map[isa.Kind]entry
	addresses map[*ir.Var]uint64
	globals   map[string]*region
	constants *region
	// source lines, which .loc names or origin returns; the first is the empty string
	lines     []string
	lineIndex map[string]int32
	// returns the source line of a line of the PTX, or is nil
	origin func(line int) (diag.Place, []diag.Place, bool)
	images map[string]*image
	exact  bool // see Options.Exact
}

// arch returns the architecture whose tensor cores the module uses.
func (m *module) arch() tensorcore.Arch {
	if m.exact {
		return tensorcore.Exact
	}
	return tensorcore.ArchOf(m.ir.Target.Info().Number)
}

// parse parses PTX into a module without memory.
func parse(name, text string) (*module, diag.List) {
	lifted, list := ptxdsl.Load(name, text)
	if lifted == nil {
		return nil, list
	}
	return newModule(NewProgram(lifted)), nil
}

// NewProgram returns a program that devices can load.
func NewProgram(m *ir.Module) *Program {
	p := &Program{ir: m, defined: make(map[string]*ir.Func), files: make(map[string]string)}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ir.Var:
			p.variables = append(p.variables, d)
		case *ir.Func:
			p.variables = append(p.variables, d.Vars...)
			if d.Defined {
				p.defined[d.Name] = d
				p.functions = append(p.functions, d)
			}
		case *ir.Directive:
			if number, rest, ok := strings.Cut(d.Text, " "); ok && d.Name == ".file" {
				path, _, _ := strings.Cut(strings.TrimPrefix(rest, `"`), `"`)
				p.files[number] = path
			}
		}
	}
	return p
}

// newModule returns a module whose variables have no memory yet.
func newModule(p *Program) *module {
	return &module{
		Program: p, entries: newEntries(), addresses: make(map[*ir.Var]uint64),
		globals: make(map[string]*region), lines: []string{""}, lineIndex: make(map[string]int32),
		images: make(map[string]*image),
	}
}

// functionAddress returns the address of the function that an operand names.
func (m *module) functionAddress(o *ir.Operand) uint64 {
	f, _ := o.Ref().(*ir.Func)
	for i, x := range m.functions {
		if f != nil && x.Name == f.Name {
			return codeWindow + uint64(i+1)*functionStep
		}
	}
	return 0
}

// functionStep is the distance between the addresses of functions.
const functionStep = 16

// lineOf returns the index in lines of the line that a .loc directive names.
func (m *module) lineOf(in *ir.Instr) (int32, bool) {
	if in.Op != ".loc" || len(in.Args) == 0 {
		return 0, false
	}
	words := strings.Fields(strings.ReplaceAll(in.Args[0].Text(), ",", " "))
	if len(words) < 2 {
		return 0, false
	}
	path := m.files[words[0]]
	if path == "" {
		path = "file " + words[0]
	}
	return m.indexOf(path + ":" + words[1]), true
}

// originOf returns the index in lines of the source line that emitted an instruction, or 0 if it is
// unknown.
func (m *module) originOf(in *ir.Instr) int32 {
	if m.origin == nil {
		return 0
	}
	place, _ := m.ir.At(in.Pos)
	at, _, ok := m.origin(place.Line)
	if !ok {
		return 0
	}
	return m.indexOf(fmt.Sprintf("%s:%d", at.File, at.Line))
}

// indexOf returns the index of a source line in lines.
func (m *module) indexOf(line string) int32 {
	n, ok := m.lineIndex[line]
	if !ok {
		n = int32(len(m.lines))
		m.lines = append(m.lines, line)
		m.lineIndex[line] = n
	}
	return n
}

// An image is a decoded kernel with all functions that it calls.
type image struct {
	module        *module
	entry         *ir.Func
	body          *program
	programs      map[*ir.Func]*program
	shared        map[*ir.Var]uint64 // offsets in shared memory
	sharedSize    int                // bytes of declared shared memory
	sharedSymbols []symbol
	clustered     bool
	grouped       bool // uses the reserved shared memory of cooperative groups
	meeting       bool // uses the workspace of a cooperative grid
	dependents    bool // contains griddepcontrol.launch_dependents
	constants     map[uint64]*eval.Vector
	problems      diag.List
}

// splat returns a vector with x in all lanes. Instructions with the same constant share the vector.
func (im *image) splat(x uint64) *eval.Vector {
	v := im.constants[x]
	if v == nil {
		v = splat(x)
		im.constants[x] = v
	}
	return v
}

// problem records a reason why the kernel cannot run.
func (im *image) problem(pos ir.Pos, err error) {
	at, _ := im.module.ir.At(pos)
	im.problems = append(im.problems,
		diag.Diagnostic{Place: at, Severity: diag.Error, Message: err.Error()})
}

// unsupported records an instruction that is not emulated.
func (im *image) unsupported(in *ir.Instr, err error) { im.problem(in.Pos, err) }

// callable returns the program at a function address, or nil.
func (im *image) callable(address uint64) *program {
	i := (address - codeWindow) / functionStep
	if address <= codeWindow || address%functionStep != 0 || i > uint64(len(im.module.functions)) {
		return nil
	}
	return im.programs[im.module.functions[i-1]]
}

// image decodes a kernel.
func (m *module) image(name string) (*image, error) {
	if im := m.images[name]; im != nil {
		return im, nil
	}
	f := m.defined[name]
	if f == nil || !f.Kernel {
		return nil, fmt.Errorf("there is no kernel %s", name)
	}
	im := &image{module: m, entry: f, programs: make(map[*ir.Func]*program),
		shared: make(map[*ir.Var]uint64), constants: make(map[uint64]*eval.Vector)}
	im.clustered = m.ir.Target.Info().Number >= 90
	reached := im.reached()
	im.layShared(reached)
	im.body = im.program(f)
	for _, g := range reached {
		if !g.Kernel {
			im.program(g)
		}
	}
	if len(im.problems) > 0 {
		return nil, &Unsupported{Kernel: name, Findings: im.problems.Sort()}
	}
	m.images[name] = im
	return im, nil
}

// reached returns the functions that the kernel may call, directly or indirectly, including the
// kernel itself.
func (im *image) reached() []*ir.Func {
	list := []*ir.Func{im.entry}
	seen := map[*ir.Func]bool{im.entry: true}
	add := func(f *ir.Func) {
		if g := im.module.defined[f.Name]; g != nil && !seen[g] {
			seen[g] = true
			list = append(list, g)
		}
	}
	indirect := false
	for i := 0; i < len(list); i++ {
		list[i].Operands(func(o *ir.Operand) {
			switch ref := o.Ref().(type) {
			case *ir.Func:
				add(ref)
			case *ir.Targets:
				indirect = indirect || ref.Proto != nil || ref.Funcs != nil
				for _, f := range ref.Funcs {
					add(f)
				}
			}
		})
		if indirect && i == len(list)-1 { // its address may have been loaded from memory
			for _, f := range im.module.functions {
				if !f.Kernel {
					add(f)
				}
			}
		}
	}
	return list
}

// layShared lays out the shared memory of a block: first the variables that the functions use,
// then dynamic shared memory.
func (im *image) layShared(reached []*ir.Func) {
	at, align := uint64(sharedStart), uint64(16)
	var dynamic []*ir.Var
	add := func(v *ir.Var) {
		if _, laid := im.shared[v]; laid || v.Space.Base() != isa.Shared {
			return
		}
		im.shared[v] = 0
		if v.Size() == 0 {
			dynamic = append(dynamic, v)
			align = max(align, uint64(v.Alignment()))
			return
		}
		at = up(at, uint64(v.Alignment()))
		im.shared[v] = at
		im.sharedSymbols = append(im.sharedSymbols, symbol{v.Name, at, uint64(v.Size())})
		at += uint64(v.Size())
	}
	for _, f := range reached {
		f.Operands(func(o *ir.Operand) {
			if v := o.Var(); v != nil {
				add(v)
			}
		})
	}
	if len(dynamic) > 0 {
		at = up(at, align)
	}
	for _, v := range dynamic {
		im.shared[v] = at
	}
	if at > maxSharedBytes {
		im.problem(im.entry.Pos,
			fmt.Errorf("block needs %d bytes of shared memory, but can have at most %d", at,
				maxSharedBytes))
		at = sharedStart
	}
	im.sharedSize = int(at - sharedStart)
}

// maxSharedBytes is an upper bound for the shared memory of a block on any target, in bytes.
const maxSharedBytes = 1 << 20

// Unsupported is the error for a kernel with instructions that are not emulated.
type Unsupported struct {
	Kernel   string
	Findings diag.List // with their PTX lines
}

// Error returns the first findings as text, one per line.
func (u *Unsupported) Error() string {
	var b strings.Builder
	b.WriteString("kernel " + u.Kernel + " cannot be emulated:")
	for i, d := range u.Findings {
		if i == maxListedFindings {
			b.WriteString("\n\tand " + strconv.Itoa(len(u.Findings)-i) + " more")
			break
		}
		fmt.Fprintf(&b, "\n\t%s:%d: %s", d.Place.File, d.Place.Line, d.Message)
	}
	return b.String()
}

// maxListedFindings limits how many findings Unsupported.Error lists.
const maxListedFindings = 10
