// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// Race rules.
const (
	RuleBlock  = "E1"  // between threads of different warps of a block
	RuleWarp   = "E2"  // between lanes of a warp
	RuleGrid   = "E3"  // between threads of different blocks
	RuleScope  = "E4"  // a scope that does not include the other thread
	RuleFlight = "E5"  // an asynchronous operation that may be in flight
	RuleProxy  = "E6"  // a missing proxy fence
	RuleMixed  = "E7"  // strong accesses that overlap partially or conflict with a weak access
	RuleValues = "E8"  // lanes that store different values to one address with one instruction
	RuleInit   = "E9"  // an mbarrier whose initialization is not visible
	RulePeer   = "E10" // shared memory of a block that may have exited or not started
	RuleGrids  = "E11" // a dependent launch without a wait
	RuleTensor = "E15" // tensor memory

	RuleReadOnly = "E18" // a non-coherent load of memory that the launch writes
	RuleExited   = "E19" // an aligned barrier after lanes of the warp exited
	RuleLive     = "E20" // an mbarrier that is overwritten or initialized again
	RuleFragment = "E21" // a register of wgmma or tcgen05.ld that is accessed too early
	RuleSkipped  = "E22" // a barrier of all threads that some threads skip
	RuleStale    = "E23" // a strong load behind a flag that was read without an acquire
)

// An Access is one of the two accesses of a race.
type Access struct {
	What   string // such as "write by thread (3,0,0) of block (0,0,0)"
	Opcode string
	Place  diag.Place
	Source string // the line that .loc names
	Thread uint32 // index of the thread in its block
}

// A Race is a pair of unordered accesses, or a violation of a similar rule.
type Race struct {
	Rule          string
	Severity      diag.Severity
	Kernel        string
	Message       string
	First, Second Access // First is the access that the emulator performed first
	Address       string // relative to a variable; "" if there is none
	Space         isa.Space
	Missing       string // the synchronization that would order them
	Fix           string
	Count         int // number of affected bytes and repetitions

	SameValue bool // two writes of the same value
}

type raceKey struct {
	rule          string
	first, second *ir.Instr
}

// describe returns the description of an access for a report.
func (d *Detector) describe(x *stamp) Access {
	s := &d.shadow.sites[x.site]
	what := map[emu.EventKind]string{
		emu.EventRead: "read", emu.EventWrite: "write", emu.EventAtomic: "atomic operation",
		emu.EventInit:   "initialization",
		emu.EventSignal: "arrival", emu.EventTest: "wait", emu.EventInval: "invalidation",
		emu.EventTensor: "deallocation",
		emu.EventExit:   "exit", emu.EventArrive: "arrival", emu.EventClusterArrive: "arrival",
		emu.EventPartial: "execution",
	}[s.kind]
	by := "by"
	if s.async {
		by = "by an asynchronous operation of"
	}
	a := Access{What: fmt.Sprintf("%s %s %s", what, by, d.threadName(x)), Source: s.source,
		Thread: x.thread % uint32(d.perWarp*32)}
	if s.instr != nil {
		a.Opcode = s.instr.Op
		a.Place = d.launch.Place(s.instr)
	}
	return a
}

// threadName names the thread of an access.
func (d *Detector) threadName(x *stamp) string {
	if x.agent == d.previous {
		return "an earlier launch"
	}
	n := uint32(d.perWarp * 32)
	b, t := x.thread/n, x.thread%n
	l := d.launch.Launch
	p := func(i uint32, size [3]uint32) string {
		return fmt.Sprintf("(%d,%d,%d)", i%size[0], i/size[0]%size[1], i/size[0]/size[1])
	}
	return fmt.Sprintf("thread %s of block %s", p(t, l.Block), p(b, l.Grid))
}

// report records a race, once for each pair of instructions.
func (d *Detector) report(r Race, x, y *stamp, a emu.Address) {
	if !d.postpone(r, x, y, a) {
		d.reportNow(r, x, y, a)
	}
}

// reportNow records a race.
func (d *Detector) reportNow(r Race, x, y *stamp, a emu.Address) {
	k := raceKey{r.Rule, d.shadow.sites[x.site].instr, d.shadow.sites[y.site].instr}
	if old := d.seen[k]; old != nil {
		old.Count++
		if old.Severity > r.Severity { // errors come first
			old.Severity = r.Severity
		}
		return
	}
	if r.Rule == RuleWarp || r.Rule == RuleBlock || r.Rule == RuleGrid {
		if m := d.launch.Module; isUpdate(m, k.first) || isUpdate(m, k.second) {
			r.Fix += "; for an update such as a count, use an atomic operation (red or atom)"
		}
	}
	first := new(Race) // not &r, which would allocate for each report
	*first = r
	first.Kernel, first.First, first.Second, first.Count = d.launch.Kernel, d.describe(x),
		d.describe(y), 1
	if a.Space == isa.Tensor {
		a.At /= columnBytes
	}
	if a.Space != 0 {
		first.Address, first.Space = d.launch.Symbol(a), a.Space.Base()
	}
	d.seen[k] = first
	d.reports = append(d.reports, first)
}

// main reports whether an agent stands for the accesses of a thread itself, and not for one of its
// other slots or for an asynchronous operation.
func (d *Detector) main(agent uint32) bool { return agent < d.previous && agent%slots == slotMain }

// copied reports whether an agent stands for the cp.async operations of a thread.
func (d *Detector) copied(agent uint32) bool {
	return agent < d.previous && agent%slots == slotCopy
}

// check compares access y with an earlier access x to the same byte, and reports a race if they
// conflict and are not ordered.
func (d *Detector) check(e *emu.Event, v *view, x, y *stamp, a emu.Address, at uint64) {
	if x.serial == y.serial {
		return
	}
	sx, sy := &d.shadow.sites[x.site], &d.shadow.sites[y.site]
	if x.agent == y.agent && d.main(x.agent) && !sy.readOnly && sx.kind != emu.EventInit &&
		sy.proxy != emu.ProxyTensorMap {
		return
	}
	if sy.readOnly && sx.kind != emu.EventRead && x.agent != d.previous {
		d.report(readOnlyRace(), x, y, a)
		return
	}
	if sx.kind == emu.EventInit && sy.kind != emu.EventRead {
		d.report(liveRace(sy), x, y, a)
		return
	}
	known := d.knows(v, x)
	a.At = at
	if sx.proxy == emu.ProxyGeneric && sy.proxy != emu.ProxyGeneric {
		if d.crosses(v, x, y, a, known) {
			return
		}
	} else if known {
		return
	}
	if x.agent == d.previous {
		d.earlierRace(x, y, a)
		return
	}
	if d.usesMap(x, sx, sy) {
		d.report(mapInUseRace(), x, y, a)
		return
	}
	if sx.strong && sy.strong && sx.proxy == sy.proxy && d.bothStrong(x, y, a) {
		return
	}
	if sy.async && !sx.async && d.issuer != nil && int32(x.serial-d.issuer.issued) > 0 {
		x, y, sx, sy = y, x, sy, sx // the access came after the operation was issued
	}
	r := d.raceOf(sx, sy, x, y, a)
	if !sx.async && !sy.async && v.knows(x.agent+slotDevice, x.epoch) {
		r.publishedByOther()
	}
	d.report(r, x, y, a)
}

// publishedByOther turns a race into a review whose first thread executes a fence of device scope
// before a barrier, after which another thread stores the flag that the second one has read.
// Devices order these accesses, but the PTX memory model does so only for fence.sc.
func (r *Race) publishedByOther() {
	r.Severity = diag.Review
	r.Missing = "a release by the thread that stores the flag, or fence.sc on both sides; the fence of the first thread precedes the barrier"
	r.Fix = "execute the fence after the barrier, in the thread that stores the flag"
}

// earlierRace reports that a thread accesses memory that an earlier, possibly overlapping launch
// accessed. Two accesses to a flag with which the earlier launch releases are not a race.
func (d *Detector) earlierRace(x, y *stamp, a emu.Address) {
	sx, sy := &d.shadow.sites[x.site], &d.shadow.sites[y.site]
	if sx.strong && sy.strong && x.at == y.at && sx.size == sy.size &&
		min(sx.scope, sy.scope) >= isa.ScopeGPU &&
		d.flags[strongKey{key{a.Space, a.Block, y.at}, sy.size}] {
		return
	}
	d.report(Race{
		Rule:    RuleGrids,
		Message: "access to memory that an earlier launch wrote or read, before griddepcontrol.wait",
		Missing: "griddepcontrol.wait before the first dependent access",
		Fix:     "execute griddepcontrol.wait before the access",
	}, x, y, a)
}

// usesMap reports whether one of two accesses is the read of a tensor map by a copy in flight, and
// x does not happen before the copy.
func (d *Detector) usesMap(x *stamp, sx, sy *site) bool {
	return sx.async && sx.proxy == emu.ProxyTensorMap ||
		sy.async && sy.proxy == emu.ProxyTensorMap && d.issuer != nil &&
			int32(x.serial-d.issuer.issued) > 0
}

// crosses compares an access through the generic proxy with a later access through another proxy.
// It reports whether no further comparison is needed: the two are ordered, or it has reported a
// race.
func (d *Detector) crosses(v *view, x, y *stamp, a emu.Address, known bool) bool {
	sx, sy := &d.shadow.sites[x.site], &d.shadow.sites[y.site]
	switch {
	case sy.proxy == emu.ProxyAsync && d.main(x.agent):
		if d.fenced(v, x, a) {
			return true
		}
		if known {
			d.report(d.proxyRace(sx, x, a), x, y, a)
			return true
		}
	case sy.proxy == emu.ProxyAsync && known && d.copied(x.agent):
		if !v.knows(x.agent-slotCopy+slotCopyShown, x.epoch) {
			d.report(d.proxyRace(sx, x, a), x, y, a)
		}
		return true
	case sy.proxy == emu.ProxyTensorMap && d.main(x.agent):
		if v.knows(x.agent+slotMap, x.epoch) && d.threads[v.thread].mapped {
			return true
		}
		if known {
			d.report(Race{
				Rule:    RuleProxy,
				Message: "tensor map is used by a copy, but no tensor map fence follows its change",
				Missing: "fence.proxy.tensormap::generic.release by the writer and .acquire before the copy",
				Fix:     "use tensormap.cp_fenceproxy, or a pair of fence.proxy.tensormap::generic fences around the synchronization",
			}, x, y, a)
			return true
		}
	default:
		return known
	}
	return false
}

// bothStrong compares two strong accesses through the same proxy. It reports whether no further
// comparison is needed.
func (d *Detector) bothStrong(x, y *stamp, a emu.Address) bool {
	sx, sy := &d.shadow.sites[x.site], &d.shadow.sites[y.site]
	if !d.reaches(min(sx.scope, sy.scope), d.blockOf(x.thread), d.blockOf(y.thread)) {
		d.report(Race{
			Rule:    RuleScope,
			Message: "strong accesses race because the scope of one does not include the other thread",
			Missing: "scopes that include both threads",
			Fix:     "widen the scope: .cluster within a cluster, .gpu between blocks",
		}, x, y, a)
		return true
	}
	if x.at == y.at && sx.size == sy.size {
		if sx.legacy && sy.legacy && !sx.async && d.blockOf(x.thread) == d.blockOf(y.thread) &&
			x.thread/32 == y.thread/32 {
			d.report(volatileRace(), x, y, a)
		}
		if sx.vector && sy.vector && x.thread != y.thread {
			d.report(vectorRace(), x, y, a)
		}
		return true
	}
	return false
}

// fenced reports whether a proxy fence made the access x visible to asynchronous operations with
// view v.
func (d *Detector) fenced(v *view, x *stamp, a emu.Address) bool {
	slot := uint32(slotShared)
	switch {
	case a.Space == isa.Global:
		slot = slotGlobal
	case a.Block != d.blockOf(x.thread):
		slot = slotPeer
	}
	return v.knows(x.agent+slot, x.epoch)
}

// fencedLate reports whether the issuing thread executed a proxy fence after x happened before it.
func (d *Detector) fencedLate(x *stamp, a emu.Address) bool {
	if d.issuer == nil {
		return false
	}
	v := &d.issuer.proxied[0]
	if a.Space == isa.Global {
		v = &d.issuer.proxied[1]
	}
	return v.own[slotMain] != 0 && d.knows(v, x)
}
