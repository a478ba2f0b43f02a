// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/order"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
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
//   - Schedules of tiles: [Kernel.BlockTile], [Kernel.Persistent], [Kernel.PersistentBalanced],
//     [Kernel.PersistentGroups], [Kernel.DynamicSchedule], [Kernel.StreamK]
//   - Memory and tiles: [Kernel.SharedBytes], [Kernel.SharedTile], [Kernel.SharedTiles],
//     [Kernel.Matrix], [Kernel.TensorMap], [Kernel.Tensor], [Kernel.RowTensor], [Kernel.Im2col],
//     [Kernel.ScaleMap], [Kernel.ScaleCopy], [Kernel.SparsityMap]
//   - Copies: [Kernel.CopyAsync], [Kernel.CommitCopies], [Kernel.WaitCopies],
//     [Kernel.CommitStores], [Kernel.WaitStores], [Kernel.WaitStoresRead]
//   - Tensor cores: [Kernel.Accumulator], [Kernel.CommitMMA], [Kernel.WaitMMA], [Kernel.TMEM],
//     [Kernel.TMEMOperand], [Kernel.CTAPair], [Kernel.PairHalf], [Kernel.Output],
//     [Kernel.TensorOutput], [Kernel.ScaleOutput], [Kernel.Reduction], [Kernel.OnlineSoftmax]
type Kernel struct {
	m    *Module
	f    *ir.Func
	cur  *ir.Block
	head *ir.Block // code at the start, which reads parameters and special registers

	threads     [3]int // block size from Threads; zeros if it is not declared
	cluster     [3]int
	maxThreads  int             // maximum block size from MaxThreads, or 0
	blocks      int             // minimum blocks per multiprocessor from MinBlocks, or 0
	names       map[string]bool // labels, variables and register names that are in use
	specials    []special       // special registers that have been read
	thread      Reg[U32]        // linear thread index in a block of several dimensions
	warp        Reg[U32]
	starts      map[*ir.Var]*ir.Reg // addresses of shared and local variables
	role        *role
	setup       setup
	tmem        tensorMemory
	leader      Reg[Pred]
	lastBarrier int // number of the last named barrier that NamedBarrier reserved
	maps        []*TensorMap
	elements    map[string]isa.Type // element types of pointer parameters
	marks       []*Label
	open        []scope
	scopeNames  []string
	scopeRoles  []string // role that contains each scope; "" outside roles
	loops       []*loop
	guard       ir.Guard
	noUnroll    bool             // the next loop must not be unrolled
	started     []startedProduct // wgmma operations in flight
	shared      sharedMemory
	order       order.Order
	args        slab.Of[ir.Operand]
	mores       slab.Of[ir.More]
	regs        slab.Of[ir.Reg]
	regCount    int // number of registers in regs
	doc         []string
	arguments   []isa.Type // parameter types of a device function
	callees     []callee   // device functions that the function calls
	returns     []ir.Pos   // positions of returns without a result
	outputs     []*Output
	openStages  []*Stage // stages whose bodies are being built, outermost first
	// WaitStores was called
	allStoresWaited bool
	conds           []ir.Condition // conditions under which the current code executes
	sharedConds     int            // number of elements of conds that annotations refer to
	// whether threads left the kernel (left), or an iteration of a loop (out), under the
	// innermost condition
	left, out    bool
	arrivals     [16]ir.Pos // first arrival on each named barrier without a wait
	awaited      uint16     // bit set of the named barriers on which threads wait
	isDivergent  bool       // the set of active threads is unknown, as after a divergent exit
	textBarriers []int64    // barrier numbers used by instructions written with Ins
	loading      string     // name of the AsyncPipeline whose load function is being built, or ""
	exitCount    int        // number of exits from the kernel and its loops that have been emitted
	// for each annotated access to shared memory, the number of instructions before the access
	sharedNoteIndex []int
	operandCounters []operandCounter // one for each annotated accumulator
	notes           *ir.Annotations
	accessNotes     slab.Of[ir.Access]
	groups          int // accumulators that are read before their first MMA
	// accumulators that are read before their first MMA, in program order
	readEmpty []*Accumulator
}

// Kernel starts a kernel. Calls on the result add its parameters and body.
func (m *Module) Kernel(name string, options ...KernelOption) *Kernel {
	m = m.sound()
	k := m.function(name)
	k.f.Kernel = true
	k.f.Linkage = ".visible"
	k.f.HasParams = true
	for _, option := range options {
		if k.checkFunctions("Kernel", option != nil) {
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
	k := &Kernel{m: m, f: f, names: make(map[string]bool, initialNames),
		starts: make(map[*ir.Var]*ir.Reg), head: &ir.Block{}, notes: new(ir.Annotations)}
	switch {
	case !identifier(name):
		m.faultAt(pos, &ruleKernel,
			"%q is not a valid kernel name, expected letters, digits, _ and $, starting with a letter",
			name)
		f.Name = m.uniqueName("kernel")
	case m.names[name]:
		m.faultAt(pos, &ruleKernel, "%s is already declared in this module", name)
		f.Name = m.uniqueName(name)
	default:
		m.names[name] = true
	}
	k.enter("")
	k.place(&ir.Block{})
	m.ir.Decls = append(m.ir.Decls, f)
	m.kernels = append(m.kernels, k)
	return k
}

// initialNames is the initial capacity of a function's name table.
const initialNames = 48

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

// unique returns name if it is not in taken, and otherwise name with the smallest free numeric
// suffix.
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

// Name returns the kernel's name, which is that of the PTX function.
func (k *Kernel) Name() string { return k.sound().f.Name }

// Module returns the module that contains k.
func (k *Kernel) Module() *Module { return k.sound().m }

// BlockThreads returns the number of threads of a block if Threads specified it, and 0 otherwise.
func (k *Kernel) BlockThreads() int {
	k = k.sound()
	return k.threads[0] * k.threads[1] * k.threads[2]
}

// Comment writes a comment before the next instruction in the PTX. Each line of the text becomes
// one comment line. A comment of the form ptxdsl:ignore, a rule and a reason suppresses findings
// of that rule at the next instruction:
//
//	k.Comment("ptxdsl:ignore A12 the preceding kernel writes activations, not weights")
//	weights.CopyAsync(stage, 4)
func (k *Kernel) Comment(format string, args ...any) {
	k = k.sound()
	for _, line := range strings.Split(fmt.Sprintf(format, args...), "\n") {
		k.doc = append(k.doc, "// "+line)
	}
}

// Pragma writes a .pragma directive before the next instruction in the PTX.
func (k *Kernel) Pragma(text string) {
	k = k.sound()
	if strings.ContainsAny(text, "\"\n\r") {
		k.fault(&ruleOperand,
			"%q is not a valid .pragma, expected one line without quotation marks", text)
		return
	}
	in := k.newInstr(k.m.calls.Here(), ".pragma", 1)
	in.Args[0] = ir.Operand{Kind: ir.Raw, More: &ir.More{Text: `"` + text + `"`}}
	k.append(in)
}

// newInstr returns a new instruction with space for n operands, under the current guard. The
// caller must append the instruction before it calls newInstr again.
func (k *Kernel) newInstr(pos ir.Pos, op string, n int) *ir.Instr {
	in := k.order.Next()
	in.Op = op
	in.Pos = pos
	in.Guard = k.guard
	in.Args = slab.Many(&k.args, n)
	return in
}

// ins appends an instruction and checks its form. The instruction gets the source position of the
// builder call that called ins.
//
//go:noinline
func (k *Kernel) ins(op string, args ...ir.Operand) *ir.Instr {
	in := k.newInstr(k.m.calls.Caller(), op, len(args))
	copy(in.Args, args)
	k.append(in)
	return in
}

// append appends in to the current block and checks its form.
func (k *Kernel) append(in *ir.Instr) {
	k.countInstr(in)
	k.put(in)
	k.bind(in)
	if in.Kind().Head() == isa.HeadWgmma {
		k.trackWgmma(in)
	}
	if in.Form != nil && in.Ends() {
		if in.Op[0] != 'b' {
			k.noteExit() // exit and ret are not emitted by branch
		}
		if in.Guard.Reg != nil {
			k.place(&ir.Block{})
		} else {
			k.cur = nil
		}
	}
}

// countInstr counts the registers that an instruction uses, and remembers instructions that name
// variables; finish needs both.
func (k *Kernel) countInstr(in *ir.Instr) {
	if countUses(in, 1) {
		k.shared.users = append(k.shared.users, in)
	}
}

// put appends in to the current block, with the pending comments before it.
func (k *Kernel) put(in *ir.Instr) {
	if k.doc != nil && in.Said == nil && k.cur != k.head &&
		(k.role == nil || k.cur != k.role.head) {
		in.Comment(k.doc, "")
		k.doc = nil
	}
	if k.m.sealed {
		k.reportLate()
		return
	}
	if k.cur == nil {
		k.startUnreachable()
		k.place(&ir.Block{})
	}
	k.order.Put(k.cur)
}

// bind looks up the instruction form of in and reports every mismatch. It returns whether the
// instruction is valid.
func (k *Kernel) bind(in *ir.Instr) bool {
	problems := k.m.binder.Bind(in)
	for i := range problems {
		k.problem(in, &problems[i])
	}
	return len(problems) == 0
}

// problem records a mismatch that package isa found in an instruction.
func (k *Kernel) problem(in *ir.Instr, p *isa.Problem) {
	severity := diag.Error
	if p.Warning {
		severity = diag.Warning
	}
	message := p.Message
	if p.Want != "" && !strings.HasPrefix(p.Want, ".") {
		message += "; the closest form is " + p.Want
	}
	k.m.record(in.Pos, diag.Diagnostic{Rule: p.Rule, Severity: severity, Message: message}).
		withFix(replaceOpcode(in.Op, p))
}

// replaceOpcode returns the edit that replaces the opcode op, or its modifier that p is about, by
// what p suggests, or nil if p suggests nothing.
func replaceOpcode(op string, p *isa.Problem) source.Edit {
	switch words := strings.Split(op, "."); {
	case p.Want == "" || p.Arg >= 0:
		return nil
	case !strings.HasPrefix(p.Want, "."):
		return source.ReplaceString(op, p.Want)
	case p.Mod >= 0 && p.Mod+1 < len(words):
		return source.ReplaceModifier("."+words[p.Mod+1], p.Want)
	}
	return nil
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
