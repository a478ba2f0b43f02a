// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/order"
	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Kernel is a kernel, or the body of a device function, under construction. Its methods append
// instructions. They return no errors: mistakes are recorded with the line of the call, and
// [Module.Build] reports them.
//
// The methods by subject:
//   - Kernel: [Kernel.Name], [Kernel.Module], [Kernel.BlockThreads], [Kernel.DynamicShared],
//     [Kernel.TMEMPlan], [Kernel.Errorf], [Kernel.Comment], [Kernel.Pragma], [Kernel.Ins]
//   - Indices: [Kernel.TID], [Kernel.NTID], [Kernel.CTAID], [Kernel.NCTAID], [Kernel.Thread],
//     [Kernel.Lane], [Kernel.WarpIndex], [Kernel.ClusterID], [Kernel.NClusterID],
//     [Kernel.ClusterCTAID], [Kernel.ClusterRank], [Kernel.Clock], [Kernel.GlobalTimer]
//   - Constants: [Kernel.U8], [Kernel.U16], [Kernel.U32], [Kernel.U64], [Kernel.S32], [Kernel.S64],
//     [Kernel.F16], [Kernel.BF16], [Kernel.F32], [Kernel.F64]
//   - Control flow: [Kernel.If], [Kernel.Unless], [Kernel.When], [Kernel.Range], [Kernel.RangeI],
//     [Kernel.RangeStep], [Kernel.GridStride], [Kernel.While], [Kernel.Loop], [Kernel.NoUnroll],
//     [Kernel.Break], [Kernel.BreakIf], [Kernel.Continue], [Kernel.ContinueIf], [Kernel.Switch],
//     [Kernel.SwitchDefault], [Kernel.Return], [Kernel.ReturnIf], [Kernel.Exit], [Kernel.Trap]
//   - Labels and calls: [Kernel.NewLabel], [Kernel.PlaceLabel], [Kernel.Branch], [Kernel.BranchIf],
//     [Kernel.BranchTargets], [Kernel.Call], [Kernel.CallTargets], [Kernel.Prototype]
//   - Warps: [Kernel.ActiveLanes], [Kernel.AllLanes], [Kernel.AnyLane], [Kernel.Ballot],
//     [Kernel.Elect], [Kernel.Leader], [Kernel.SyncWarp]
//   - Blocks and clusters: [Kernel.Sync], [Kernel.SyncCluster], [Kernel.NamedBarrier],
//     [Kernel.Barrier], [Kernel.Barriers], [Kernel.Fence], [Kernel.FenceAsync], [Kernel.Semaphore],
//     [Kernel.LaunchDependents], [Kernel.WaitDependencies]
//   - Roles and pipelines: [Kernel.Roles], [Kernel.Pipeline], [Kernel.AsyncPipeline],
//     [Kernel.ComputedTile]
//   - Schedules of tiles: [Kernel.BlockTile], [Kernel.Persistent], [Kernel.PersistentGroups],
//     [Kernel.DynamicSchedule], [Kernel.StreamK]
//   - Memory and tiles: [Kernel.SharedBytes], [Kernel.SharedTile], [Kernel.SharedTiles],
//     [Kernel.Matrix], [Kernel.TensorMap], [Kernel.Tensor], [Kernel.RowTensor], [Kernel.Im2col],
//     [Kernel.ScaleMap], [Kernel.SparsityMap]
//   - Copies: [Kernel.CopyAsync], [Kernel.CommitCopies], [Kernel.WaitCopies],
//     [Kernel.CommitStores], [Kernel.WaitStores], [Kernel.WaitStoresRead]
//   - Tensor cores: [Kernel.Accumulator], [Kernel.CommitMMA], [Kernel.WaitMMA], [Kernel.TMEM],
//     [Kernel.TMEMOperand], [Kernel.CTAPair], [Kernel.Output], [Kernel.ScaleOutput]
type Kernel struct {
	m    *Module
	f    *ir.Func
	cur  *ir.Block
	head *ir.Block // code at the start: it reads parameters and special registers

	threads    [3]int // declared block size, or 0 if it is not declared
	cluster    [3]int
	most       int             // limit of the block size, from MaxThreads
	blocks     int             // blocks per multiprocessor, from MinBlocks
	names      map[string]bool // names used in the function
	specials   []special       // special registers that have been read
	thread     Reg[U32]        // linear thread index in a block of several dimensions
	warp       Reg[U32]
	starts     map[*ir.Var]*ir.Reg // addresses of shared and local variables
	role       *role
	setup      setup
	tmem       tensorMemory
	leader     Reg[Pred]
	named      int // bit set of allocated named barriers
	maps       []*TensorMap
	elements   map[string]isa.Type // element types of pointer parameters
	marks      []*Label
	open       []scope
	scopeNames []string
	scopeRoles []string // the role of each scope; "" outside of roles
	loops      []*loop
	guard      ir.Guard
	rolled     bool             // the next loop must not be unrolled
	started    []startedProduct // wgmma operations in flight
	shared     sharedMemory
	order      order.Order
	args       slab.Of[ir.Operand]
	mores      slab.Of[ir.More]
	regs       slab.Of[ir.Reg]
	made       int // number of registers in regs
	doc        []string
	arguments  []isa.Type // parameter types of a device function
	callees    []callee   // functions that it calls
	returns    []ir.Pos   // returns without a result
	outputs    []*Output
	reading    []*Stage       // stages that are being read
	waited     bool           // WaitStores was called for some output
	conds      []ir.Condition // conditions that are true here
	held       int            // number of conds that annotations refer to
	// whether threads left the kernel, or an iteration of a loop, under the innermost condition
	left, out bool
	arrivals  [16]ir.Pos // arrivals of warps at named barriers without a wait
	awaited   uint16     // bit set of named barriers that are waited on
	parted    bool       // the set of active threads is unknown, as after a divergent exit
	numbered  []int64    // barrier numbers used by instructions written as text
	loading   string     // the AsyncPipeline whose load is being built
	outs      int        // exits from the kernel and its loops so far
	// for each annotated access to shared memory, the number of instructions before it
	touched     []int
	owned       []owned // for each annotated accumulator
	notes       *ir.Annotations
	accessNotes slab.Of[ir.Access]
	groups      int            // number of calls of Roles
	sums        []*Accumulator // accumulators that are read before the first MMA, in program order
}

// Kernel starts a kernel. Calls on the result add its parameters and body.
func (m *Module) Kernel(name string, options ...KernelOption) *Kernel {
	m = m.sound()
	k := m.function(name)
	k.f.Kernel = true
	k.f.Linkage = ".visible"
	k.f.HasParams = true
	for _, option := range options {
		if k.runs("Kernel", option != nil) {
			option(k)
		}
	}
	k.checkOptions()
	return k
}

// function starts a kernel or a device function.
func (m *Module) function(name string) *Kernel {
	pos := m.calls.Here()
	if m.sealed {
		m.faultAt(pos, &ruleKernel,
			"%s is declared after the module was built; call Build and Text after all declarations",
			name)
	}
	f := &ir.Func{Name: name, Defined: true, Pos: pos}
	k := &Kernel{m: m, f: f, names: make(map[string]bool, someNames),
		starts: make(map[*ir.Var]*ir.Reg), head: &ir.Block{}, notes: new(ir.Annotations)}
	switch {
	case !identifier(name):
		m.faultAt(pos, &ruleKernel,
			"%q is not a valid kernel name, expected letters, digits, _ and $, starting with a letter",
			name)
		f.Name = m.claim("kernel")
	case m.names[name]:
		m.faultAt(pos, &ruleKernel, "%s is already declared in this module", name)
		f.Name = m.claim(name)
	default:
		m.names[name] = true
	}
	k.enter("")
	k.place(&ir.Block{})
	m.ir.Decls = append(m.ir.Decls, f)
	m.kernels = append(m.kernels, k)
	return k
}

// someNames is the initial capacity of a function's name table.
const someNames = 48

// identifier reports whether name is a valid PTX identifier.
func identifier(name string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && !(c == '_' || c == '$') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && name != "_" && name != "WARP_SZ"
}

// unique returns name, with a number appended if it is taken.
func unique(name string, taken map[string]bool) string {
	if !taken[name] {
		return name
	}
	for i := 1; ; i++ {
		if s := fmt.Sprintf("%s_%d", name, i); !taken[s] {
			return s
		}
	}
}

// Name returns the name of the kernel.
func (k *Kernel) Name() string { return k.sound().f.Name }

// Module returns the module of k.
func (k *Kernel) Module() *Module { return k.sound().m }

// BlockThreads returns the number of threads of a block if Threads specified it, and 0 otherwise.
func (k *Kernel) BlockThreads() int {
	k = k.sound()
	return k.threads[0] * k.threads[1] * k.threads[2]
}

// Comment puts a comment before the next instruction. A comment of the form ptxdsl:ignore, a rule
// and a reason suppresses findings of that rule at the next instruction:
//
//	k.Comment("ptxdsl:ignore A12 the preceding kernel writes activations, not weights")
//	weights.CopyAsync(stage, 4)
func (k *Kernel) Comment(format string, args ...any) {
	k = k.sound()
	for _, line := range strings.Split(fmt.Sprintf(format, args...), "\n") {
		k.doc = append(k.doc, "// "+line)
	}
}

// Pragma puts a .pragma before the next instruction.
func (k *Kernel) Pragma(text string) {
	k = k.sound()
	if strings.ContainsAny(text, "\"\n\r") {
		k.fault(&ruleOperand,
			"%q is not a valid .pragma, expected one line without quotation marks", text)
		return
	}
	in := k.room(k.m.calls.Here(), ".pragma", 1)
	in.Args[0] = ir.Operand{Kind: ir.Raw, More: &ir.More{Text: `"` + text + `"`}}
	k.append(in)
}

// room returns a new instruction with capacity for n operands, under the current guard. The caller
// must append it before it requests another one.
func (k *Kernel) room(pos ir.Pos, op string, n int) *ir.Instr {
	in := k.order.Next()
	in.Op = op
	in.Pos = pos
	in.Guard = k.guard
	in.Args = slab.Many(&k.args, n)
	return in
}

// ins appends an instruction and checks it against the instruction set.
//
//go:noinline
func (k *Kernel) ins(op string, args ...ir.Operand) *ir.Instr {
	in := k.room(k.m.calls.Caller(), op, len(args))
	copy(in.Args, args)
	k.append(in)
	return in
}

// append appends in to the kernel, and checks it against the instruction set.
func (k *Kernel) append(in *ir.Instr) {
	k.tally(in)
	k.put(in)
	k.bind(in)
	if in.Kind().Head() == isa.HeadWgmma {
		k.followProducts(in)
	}
	if in.Form != nil && in.Ends() {
		if in.Op[0] != 'b' {
			k.noteExit() // exit and ret are not branches
		}
		if in.Guard.Reg != nil {
			k.place(&ir.Block{})
		} else {
			k.cur = nil
		}
	}
}

// tally counts the properties of an instruction that finish needs later.
func (k *Kernel) tally(in *ir.Instr) {
	if count(in, 1) {
		k.shared.named = append(k.shared.named, in)
	}
}

// put appends in, preceded by the pending comments.
func (k *Kernel) put(in *ir.Instr) {
	if k.doc != nil && in.Said == nil && k.cur != k.head &&
		(k.role == nil || k.cur != k.role.head) {
		in.Comment(k.doc, "")
		k.doc = nil
	}
	if k.m.sealed {
		k.late()
		return
	}
	if k.cur == nil {
		k.startUnreachable()
		k.place(&ir.Block{})
	}
	k.order.Put(k.cur)
}

// bind looks up the instruction form of in, and reports whether the instruction is valid.
func (k *Kernel) bind(in *ir.Instr) bool {
	problems := k.m.binder.Bind(in)
	for i := range problems {
		k.problem(in, &problems[i])
	}
	return len(problems) == 0
}

// problem records a finding of package isa about the instruction.
func (k *Kernel) problem(in *ir.Instr, p *isa.Problem) {
	severity := diag.Error
	if p.Warning {
		severity = diag.Warning
	}
	message := p.Message
	if p.Want != "" && !strings.HasPrefix(p.Want, ".") {
		message += "; the closest form is " + p.Want
	}
	k.m.record(in.Pos, diag.Diagnostic{Rule: p.Rule, Severity: severity, Message: message})
}

// place makes b the current basic block. If the previous block is empty and would only fall through
// to b, b replaces it.
func (k *Kernel) place(b *ir.Block) {
	if n := len(k.f.Blocks); n > 0 && k.cur != nil && k.order.Empty(k.cur) && len(b.Labels) > 0 {
		last := k.f.Blocks[n-1]
		if last == k.cur && len(last.Labels) == 0 {
			k.f.Blocks = k.f.Blocks[:n-1]
		}
	}
	k.f.Blocks = append(k.f.Blocks, b)
	k.order.Place(b)
	k.cur = b
}
