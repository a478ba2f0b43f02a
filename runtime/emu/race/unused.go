// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// An unused is a race of a load whose value is perhaps never used: compilers let several warps load
// and compute the same elements, and only one of them stores the results.
type unused struct {
	race Race
	x, y stamp
	at   emu.Address
	load *ir.Instr
	by   uint32 // thread that loads
}

// An unusedKey identifies races that differ in their addresses only.
type unusedKey struct {
	pair raceKey
	by   uint32
}

// maxUsers is the number of stores that use a loaded value, above which it counts as used.
const maxUsers = 64

// execute records which lanes execute a store.
func (d *Detector) execute(e *emu.Event) {
	if e.Instr == nil {
		return
	}
	if d.executed == nil {
		d.executed = make(map[*ir.Instr][]uint32)
	}
	list := d.executed[e.Instr]
	if list == nil {
		list = make([]uint32, len(d.threads)/eval.Lanes)
		d.executed[e.Instr] = list
	}
	list[int(e.Block)*d.perWarp+int(e.Warp)] |= e.Mask
}

// postpone keeps a race of a weak load for the end of the launch, if only stores use the value.
func (d *Detector) postpone(r Race, x, y *stamp, a emu.Address) bool {
	if r.Rule != RuleBlock && r.Rule != RuleWarp && r.Rule != RuleGrid {
		return false
	}
	load := x
	if d.shadow.sites[y.site].kind == emu.EventRead {
		load = y
	}
	s := &d.shadow.sites[load.site]
	if s.kind != emu.EventRead || s.strong || s.async || s.instr == nil || !d.main(load.agent) ||
		s.instr.Kind() != isa.KindLd {
		return false
	}
	users, only := d.usersOf(s.instr)
	if !only || d.stores(users, load.thread) {
		return false
	}
	k := unusedKey{
		raceKey{r.Rule, d.shadow.sites[x.site].instr, d.shadow.sites[y.site].instr}, load.thread,
	}
	if d.isWaiting == nil {
		d.isWaiting = make(map[unusedKey]bool)
	}
	if !d.isWaiting[k] {
		d.isWaiting[k] = true
		d.waiting = append(d.waiting, unused{r, *x, *y, a, s.instr, load.thread})
	}
	return true
}

// decide reports the races that were kept and of which a thread has stored the value.
func (d *Detector) decide() {
	for i := range d.waiting {
		u := &d.waiting[i]
		if users, _ := d.usersOf(u.load); d.stores(users, u.by) {
			d.reportNow(u.race, &u.x, &u.y, u.at)
		}
	}
	d.waiting = nil
}

// stores reports whether a thread has executed one of some stores.
func (d *Detector) stores(list []*ir.Instr, thread uint32) bool {
	for _, in := range list {
		if lanes := d.executed[in]; lanes != nil &&
			lanes[thread/eval.Lanes]>>(thread%eval.Lanes)&1 != 0 {
			return true
		}
	}
	return false
}

// usersOf returns the stores that use the value of a load, directly or after computations. It
// returns false if anything else uses it: an address, a branch, a guard or another operation.
func (d *Detector) usersOf(load *ir.Instr) (users []*ir.Instr, only bool) {
	if list, known := d.users[load]; known {
		return list, list != nil
	}
	if d.users == nil {
		d.users = make(map[*ir.Instr][]*ir.Instr)
	}
	users = d.findUsers(load)
	d.users[load] = users
	return users, users != nil
}

// findUsers returns the stores that use the value of a load, or nil if there are others or many.
func (d *Detector) findUsers(load *ir.Instr) []*ir.Instr {
	users := []*ir.Instr{}
	only := d.eachUse(load, func(in *ir.Instr, from map[*ir.Reg]bool) bool {
		switch {
		case in.Guard.Reg != nil && from[in.Guard.Reg]:
			return false
		case in.Kind() == isa.KindSt && !in.AddressReadsAny(from):
			if s := in.Space().Base(); s != isa.Global && s != isa.Shared ||
				in.Form.Operation().Order > isa.Weak || len(users) == maxUsers {
				return false
			}
			if !slices.Contains(users, in) {
				users = append(users, in)
			}
			return true
		}
		return passesOn(in)
	})
	if !only || len(users) == 0 { // a compiler would remove a load without users
		return nil
	}
	return users
}

// eachUse calls visit for the instructions that use the value of a load, directly or after
// computations, some of them more than once. from holds the registers that are known to depend on
// the value. It returns false as soon as visit does.
func (d *Detector) eachUse(load *ir.Instr,
	visit func(in *ir.Instr, from map[*ir.Reg]bool) bool) bool {
	from := make(map[*ir.Reg]bool)
	load.AddWritten(from)
	fn := d.functionOf(load)
	for grew := fn != nil; grew; {
		grew = false
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if in == load || !in.ReadsAny(from) {
					continue
				}
				if !visit(in, from) {
					return false
				}
				if passesOn(in) {
					grew = in.AddWritten(from) || grew
				}
			}
		}
	}
	return true
}

// passesOn reports whether an instruction only computes its results from its operands.
func passesOn(in *ir.Instr) bool { return in.Has(isa.EffectPure) || in.Kind() == isa.KindMov }

// functionOf returns the function of an instruction.
func (d *Detector) functionOf(in *ir.Instr) *ir.Func {
	for _, f := range d.launch.Module.Funcs() {
		for _, b := range f.Blocks {
			if slices.Contains(b.Instrs, in) {
				return f
			}
		}
	}
	return nil
}
