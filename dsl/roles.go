// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// A Role is the code of some warps of a block; see [Kernel.Roles].
type Role struct {
	name     string
	first, n int // first warp and number of warps
	each     int // number of warps that have the same index
	regs     int
	body     func(index Reg[U32])
}

// OnWarp returns a role of the warp with the given index.
func OnWarp(warp int, name string, body func()) Role {
	return Role{name: name, first: warp, n: 1, each: 1, body: withoutIndex(body)}
}

// withoutIndex returns a role body that ignores the index and calls body.
func withoutIndex(body func()) func(Reg[U32]) {
	if body == nil {
		return nil
	}
	return func(Reg[U32]) { body() }
}

// OnWarps returns a role of n warps, starting at warp first. The argument of body is the index of
// the warp within the role.
func OnWarps(first, n int, name string, body func(index Reg[U32])) Role {
	return Role{name: name, first: first, n: n, each: 1, body: body}
}

// OnWarpgroup returns a role of the warpgroup with the given index, that is, of four warps.
func OnWarpgroup(group int, name string, body func()) Role {
	return Role{name: name, first: 4 * group, n: 4, each: 4, body: withoutIndex(body)}
}

// OnWarpgroups returns a role of n warpgroups, starting at warpgroup first. The argument of body
// is the index of the warpgroup within the role.
func OnWarpgroups(first, n int, name string, body func(index Reg[U32])) Role {
	return Role{name: name, first: 4 * first, n: 4 * n, each: 4, body: body}
}

// Regs returns the role with a limit of n registers per thread (setmaxnreg). Either all roles of
// a kernel or none must have one.
func (r Role) Regs(n int) Role {
	r.regs = n
	return r
}

// A role is a Role whose body is being built.
type role struct {
	Role
	head      *ir.Block // code at the start of the role
	single    bool      // only the first warp of the role continues after the head
	end       *ir.Block
	index     Reg[U32]
	scope     int
	open      []scope
	leader    Reg[Pred]
	sparsity  map[*ring]*place
	even      bool // only the even block of a CTA pair executes the body
	constants map[uint32]Reg[U32]
	ends      []func() // pipelines for which the role waits at its end; see waitUntilEmpty
	// pipelines that the role fills and that it must not outlive its block for
	filled []*Pipeline
	note   *ir.Role
}

// Roles assigns code to the warps of the block. The roles run concurrently, and all warps
// continue together after the call.
func (k *Kernel) Roles(roles ...Role) {
	k = k.sound()
	if k.role != nil {
		k.fault(&ruleRole, "Roles is called inside role %s; roles cannot be nested", k.role.name)
		return
	}
	k.checkRoles(roles)
	warp := k.WarpIndex()
	done := k.newBlock("roles_done")
	parted, some := k.isDivergent, k.isDivergent
	for i, r := range roles {
		// threads that exited in another role do not affect the warps of this one
		k.isDivergent = parted
		next := done
		if i < len(roles)-1 {
			next = k.newBlock("not_" + label(r.name))
		}
		if i < len(roles)-1 || r.first+r.n < k.BlockThreads()/32 || k.BlockThreads() == 0 ||
			r.first > 0 {
			var other Reg[Pred]
			switch {
			case r.n == 1:
				other = warp.NEI(int64(r.first))
			case r.first == 0:
				other = warp.GEI(int64(r.n))
			default:
				other = warp.SubI(int64(r.first)).GEI(int64(r.n))
			}
			k.branchIf(other, false, next)
		}
		k.emitUnder(ir.Condition{}, true, false, func() { k.buildRole(r, warp, done) })
		some = some || k.isDivergent
		if i < len(roles)-1 {
			k.branch(done)
			k.place(next)
		}
	}
	k.place(done)
	k.isDivergent = some
	k.groups++
	if k.clusterSize() > 1 {
		k.Comment("no block exits while another block may still signal it")
		k.SyncCluster()
	}
}

// label returns name if it can be part of a label, and otherwise "role".
func label(name string) string {
	if identifier(name) {
		return name
	}
	return "role"
}

// validBudget reports whether setmaxnreg accepts the register limit of the role.
func (r Role) validBudget() bool {
	return r.regs >= 24 && r.regs <= 256 && r.regs%8 == 0 && r.first%4 == 0 && r.n%4 == 0
}

func (k *Kernel) buildRole(r Role, warp Reg[U32], done *ir.Block) {
	if !k.checkFunctions("role "+r.name, r.body != nil) {
		return
	}
	k.enter("role " + r.name)
	b := &role{Role: r, head: k.newBlock(label(r.name)), end: done, scope: k.scope(),
		sparsity: make(map[*ring]*place)}
	b.open = append([]scope(nil), k.open...)
	b.note = &ir.Role{Name: r.name, First: r.first, Warps: r.n, Registers: r.regs, End: done}
	k.notes.Roles = append(k.notes.Roles, b.note)
	k.role, k.started = b, nil
	b.head.Labels[0].Doc = []string{fmt.Sprintf("// role %s: %s", r.name, r.warpRange())}
	k.place(b.head)
	if r.validBudget() {
		how := "dec"
		if r.regs > k.launchRegs() {
			how = "inc"
		}
		b.note.Budgeted = true
		k.ins("setmaxnreg."+how+".sync.aligned.u32", number(int64(r.regs)))
	}
	switch {
	case r.n == r.each:
		b.index = k.U32(0)
	case r.each == 1:
		b.index = warp.SubI(int64(r.first))
	default:
		b.index = warp.SubI(int64(r.first)).ShrI(2)
	}
	body := &ir.Block{Labels: k.newBlock(label(r.name) + "_body").Labels}
	k.place(body)
	k.m.calls.Run(func() { r.body(b.index) })
	for _, end := range b.ends {
		end()
	}
	k.closeRole(b)
	k.role = nil
	k.leave()
}

func (r Role) warpRange() string {
	if r.n == 1 {
		return fmt.Sprintf("warp %d", r.first)
	}
	return fmt.Sprintf("warps %d to %d", r.first, r.first+r.n-1)
}

// closeRole completes the head of a role with the conditions under which a warp executes the
// body.
func (k *Kernel) closeRole(b *role) {
	if b.single && b.n > 1 {
		k.leaveHead(b, func() Reg[Pred] { return k.WarpIndex().NEI(int64(b.first)) })
	}
	if b.even {
		k.leaveHead(b, func() Reg[Pred] { return k.pairRank().NEI(0) })
	}
	b.note.Single, b.note.Head = b.single, b.head
}

// leaveHead emits a branch at the end of a role's head that skips the body if cond is true. If
// the head already ends with a branch, the branch is emitted in a new block.
func (k *Kernel) leaveHead(b *role, cond func() Reg[Pred]) {
	was, open := k.cur, k.open
	defer func() { k.cur, k.open = was, open }()
	if k.order.Gather(); b.head.Ends() {
		b.head = k.insertBlockAfter(b.head)
	}
	k.cur, k.open = b.head, b.open
	other := cond()
	in := k.newInstr(k.m.calls.Here(), "bra", 1)
	in.Guard = ir.Guard{Reg: other.r}
	in.Args[0] = k.naming(ir.Jump, b.end, 0)
	k.m.binder.Bind(in)
	k.order.Put(b.head)
	k.countInstr(in)
}

// insertBlockAfter inserts a new basic block after b in the function and returns it.
func (k *Kernel) insertBlockAfter(b *ir.Block) *ir.Block {
	fresh := &ir.Block{}
	i := slices.Index(k.f.Blocks, b)
	k.f.Blocks = slices.Insert(k.f.Blocks, i+1, fresh)
	return fresh
}

// atHead emits code at the head of the current role, or of the kernel outside roles.
func (k *Kernel) atHead(build func()) {
	was, guard, open := k.cur, k.guard, k.open
	k.guard = ir.Guard{}
	if k.role == nil {
		k.cur, k.open = k.head, k.open[:1]
	} else {
		k.cur, k.open = k.role.head, k.role.open
	}
	build()
	k.cur, k.guard, k.open = was, guard, open
}

// Leader returns a predicate that is true in one thread of the warp. The thread is elected once
// per kernel, or once per role.
func (k *Kernel) Leader() Reg[Pred] {
	k = k.sound()
	if k.role == nil {
		if k.leader.k == nil {
			k.atHead(func() { k.leader = k.Elect() })
		}
		return k.leader
	}
	if k.role.leader.k == nil {
		k.atHead(func() { k.role.leader = k.Elect() })
	}
	return k.role.leader
}

// launchRegs returns the number of registers per thread at launch, if the block uses all
// registers of the multiprocessor.
func (k *Kernel) launchRegs() int {
	n := k.BlockThreads()
	if n == 0 {
		return 255
	}
	return min(255, 65536/n/8*8)
}

// checkRoles reports roles that overlap, that exceed the block, or whose register limits together
// exceed the registers of the block.
func (k *Kernel) checkRoles(roles []Role) {
	warps := k.BlockThreads() / 32
	if warps == 0 {
		k.fault(&ruleRole, "Roles needs the block size; declare it with Threads or Warpgroups")
		return
	}
	owner := make([]string, warps)
	budget, budgeted := 0, 0
	for _, r := range roles {
		if r.first < 0 || r.n < 1 || r.first+r.n > warps {
			k.fault(&ruleRole, "role %s has %s, but the block has %d warps", r.name, r.warpRange(),
				warps)
			continue
		}
		for w := r.first; w < r.first+r.n; w++ {
			if owner[w] != "" {
				k.fault(&ruleRole, "warp %d is in two roles, %s and %s", w, owner[w], r.name)
				break
			}
			owner[w] = r.name
		}
		if r.regs != 0 {
			budgeted++
			budget += 32 * r.n * r.regs
			if r.regs < 24 || r.regs > 256 || r.regs%8 != 0 {
				k.fault(&ruleRole,
					"role %s has a budget of %d registers, expected a multiple of 8 from 24 to 256",
					r.name, r.regs).
					withFix(nearest(r.regs, 24, 256, 8))
			}
			if r.first%4 != 0 || r.n%4 != 0 {
				k.fault(&ruleRole,
					"role %s has a register budget and consists of %s, expected whole warpgroups",
					r.name, r.warpRange())
			}
		}
	}
	if budgeted == 0 {
		return
	}
	if budgeted < len(roles) {
		k.fault(&ruleRole, "%d of %d roles have a register budget, expected all or none", budgeted,
			len(roles))
	}
	if pool := 32 * warps * k.launchRegs(); budget > pool {
		k.fault(&ruleRole,
			"register budgets of the roles need %d registers, but the launch has %d: %d threads with %d each",
			budget, pool, 32*warps, k.launchRegs())
	}
}
