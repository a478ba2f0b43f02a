// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Kernels generates random kernels of legal instructions for one version and target.
type Kernels struct {
	set   *isa.Set
	at    place
	match *isa.Matcher
	forms []formOf
}

type formOf struct {
	ins  *isa.Instruction
	form *isa.Form
}

// NewKernels returns a generator that uses the forms for which wanted returns true.
func NewKernels(set *isa.Set, version isa.Version, target isa.Target,
	wanted func(*isa.Instruction, *isa.Form) bool) *Kernels {
	k := &Kernels{set: set, at: place{version, target}, match: set.Matcher(version, target)}
	for ins := range set.All() {
		for i := range ins.Forms {
			if wanted(ins, &ins.Forms[i]) {
				k.forms = append(k.forms, formOf{ins, &ins.Forms[i]})
			}
		}
	}
	return k
}

// Kernel returns a module with a kernel k of about n random instructions. Its first parameter,
// out, is a pointer to 64-bit words. Registers of 64 bits are initialized with the pointer, and
// those of 32 bits with the address of shared memory.
func (k *Kernels) Kernel(rng *rand.Rand, n int) string {
	var p ptxas.Probe
	p.Params = []string{".param .u64 out"}
	p.Module = []string{".shared .align 1024 .b8 all[4096];"}
	var body []string
	for range n {
		one, ok := k.instruction(rng)
		if !ok {
			continue
		}
		for _, l := range []struct {
			to, from *[]string
		}{{&p.Module, &one.Module}, {&p.Params, &one.Params}, {&p.Decls, &one.Decls}} {
			for _, text := range *l.from {
				if !slices.Contains(*l.to, text) {
					*l.to = append(*l.to, text)
				}
			}
		}
		body = append(body, one.Body...)
	}
	var begin []string
	for _, text := range p.Decls {
		begin = append(begin, initialMoves(text, rng)...)
	}
	p.Decls = append(p.Decls, ".reg .u64 %first;", "ld.param.u64 %first, [out];")
	p.Body = append(begin, body...)
	return module(k.at, &p)
}

// initialMoves returns mov instructions that initialize the registers of a declaration.
func initialMoves(declaration string, rng *rand.Rand) (list []string) {
	words := strings.FieldsFunc(declaration,
		func(r rune) bool { return strings.ContainsRune(" <>;", r) })
	if len(words) != 4 || words[0] != ".reg" {
		return nil
	}
	count, err := strconv.Atoi(words[3])
	if err != nil {
		return nil
	}
	value := map[string]string{
		".b64": "%first", ".u64": "%first", ".s64": "%first", ".b32": "all", ".u32": "all",
		".s32": "all",
		".b16": "3", ".u16": "3", ".s16": "3", ".f32": "0f3fc00000", ".f64": "0d3ff8000000000000",
	}[words[1]]
	if value == "" {
		return nil
	}
	for i := range count {
		x := value
		if rng.IntN(4) == 0 && words[1][1] != 'f' {
			x = strconv.Itoa(rng.IntN(64))
		}
		list = append(list, fmt.Sprintf("mov%s %s%d, %s;", words[1], words[2], i, x))
	}
	return list
}

// instruction generates a random instruction. ok is false if no attempt gave a legal one.
func (k *Kernels) instruction(rng *rand.Rand) (ptxas.Probe, bool) {
	f := k.forms[rng.IntN(len(k.forms))]
	slots := make([]isa.Mod, len(f.form.Slots))
	const tries = 30
	for range tries {
		for i := range f.form.Slots {
			s := &f.form.Slots[i]
			slots[i] = isa.NoMod
			if s.Required || rng.IntN(3) == 0 {
				slots[i] = s.Values[rng.IntN(len(s.Values))].Mod
			}
		}
		if !f.form.Allows(slots) {
			continue
		}
		op := k.set.Opcode(f.ins, slots)
		cands, _ := k.match.Candidates(op)
		n := slices.IndexFunc(cands, func(c isa.Candidate) bool {
			return c.Form.Is(f.form) && slices.Equal(c.Slots, slots)
		})
		if n < 0 {
			continue
		}
		x, ok := (&operandMaker{rng: rng}).instance(op, &cands[n])
		if !ok {
			return ptxas.Probe{}, false
		}
		if got, _ := k.match.Match(op, x.isaArgs()); got != nil {
			return x.probe(k.at), true
		}
	}
	return ptxas.Probe{}, false
}
