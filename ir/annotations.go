// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Annotations describe how the author wrote a kernel, which its instructions show only after
// analysis, or not at all. Package dsl records them; a lifted function has none. Registers in
// annotations need not be used by any instruction.
type Annotations struct {
	Block  [3]int // threads of a block; zeros if the launch chooses
	Warp   *Reg   // index of the warp in its block, or nil if the kernel does not compute it
	Labels bool   // the author placed labels, so the conditions may not hold
	// maximum number of threads of a block if the launch chooses it, or 0 if unlimited
	Most   int
	Blocks int // blocks per multiprocessor, or 0 if unspecified

	Roles    []*Role
	Counters []Counter
	Loops    []Loop
	Uses     []Use
	Shared   []SharedAccess
	Products []Product

	Accumulators []Accumulator
	Unset        []*Reg // registers that the builder created without a value

	Meetings []Meeting
	Arrivals []Arrival

	Barriers       []Mbarrier
	SemaphoreWaits []Pos // waits at semaphores
	Resets         int   // number of semaphore resets

	FirstCopy  Pos // first builder call that starts a cp.async copy, or NoPos
	FirstStore Pos // first builder call that starts a bulk store, or NoPos
	Outputs    []Output
	Buffers    []*Buffer
	Variables  []SharedUse
	Missing    []MissingTile
	EmptyReads []Pos // reads of accumulators that no MMA writes

	Schedules int          // number of tile schedules
	Corners   []TileCorner // positions of the block's tile
	Loose     []Ref        // matrices that code other than accumulator stores writes
	Layout    Layout
}

// Threads returns the number of threads of a block, or 0 if the launch chooses.
func (a *Annotations) Threads() int { return a.Block[0] * a.Block[1] * a.Block[2] }

// A Role is the code of some warps of a block.
type Role struct {
	Name         string
	First, Warps int
	Single       bool   // only the first warp executes the body
	Registers    int    // register budget of a thread, or 0 if the author wrote none
	Budgeted     bool   // the budget is valid, and the role sets it
	Head, End    *Block // first block of the role, and the first after it
}

// A Counter is the counter of a loop. Last is its value in the last iteration, if Known is set: the
// bounds are constant and the loop has no other exit.
type Counter struct {
	Reg   *Reg
	Last  int64
	Known bool
}

// A Loop ends only by its condition.
type Loop struct {
	Top, End *Block
	Cond     *Reg
	Pos      Pos
}

// A Condition is a predicate that is true at some code, or false if Not is set.
type Condition struct {
	Reg  *Reg // nil if the register is unknown
	Not  bool
	Left bool // threads that do not satisfy the condition have left the kernel
	Loop bool // the loop has another iteration
}

// A Use is a call of the author whose operands have values that the threads compute.
type Use struct {
	Pos   Pos
	Conds []Condition // hold at the call, the outermost first
	Role  *Role       // nil outside roles
	What  Action
}

// An Action is the effect of a Use: an *Access, a *TileAccess, a *TileStore or a *Collective.
type Action interface{ action() }

func (*Access) action()     {}
func (*TileAccess) action() {}
func (*TileStore) action()  {}
func (*Collective) action() {}

// An Access is an access to Bytes bytes at an address in a register, plus an offset.
type Access struct {
	Space   isa.Space
	Reg     *Reg
	Offset  int64
	Bytes   int64
	Writes  bool
	NoCache bool // through the cache of read-only data (.nc)
}

// A Unit is the unit in which a position or a size of a tile is counted.
type Unit uint8

// Units of positions.
const (
	Row   Unit = iota // a row, for one thread
	Col               // a column, for one thread
	Chunk             // 16 bytes of a row, for one thread
	Rows              // rows, for a warp
	Part              // one of several equal parts of a tile, for a warp
	Whole             // consecutive tiles, for a warp
)

// String returns the noun for one unit, for messages.
func (u Unit) String() string {
	return [...]string{"row", "column", "16-byte unit", "rows", "part", "tile"}[u]
}

// A TileAccess selects N consecutive units, starting at the index in Reg, of a tile that has
// Limit units.
type TileAccess struct {
	Tile  TileShape
	Unit  Unit
	Reg   *Reg
	N     int64
	Limit int64
}

// A TileShape is the shape of a matrix in shared memory.
type TileShape struct {
	Type       isa.Type
	Rows, Cols int
	Swizzle    int  // in bytes, or 0 without a swizzle
	Padded     bool // sixteen elements take 16 bytes
	Transposed bool
}

// String returns a description of the shape, such as 128x64 .bf16 with a swizzle of 128 bytes.
func (t TileShape) String() string {
	s := fmt.Sprintf("%dx%d %s", t.Rows, t.Cols, t.Type)
	if t.Padded {
		s += ", padded,"
	}
	if t.Swizzle != 0 {
		s += fmt.Sprintf(" with a swizzle of %d bytes", t.Swizzle)
	}
	if t.Transposed {
		s += ", transposed"
	}
	return s
}

// A TileStore stores an accumulator, which Threads threads hold together, to a matrix.
type TileStore struct {
	Matrix     Ref     // identifies the matrix: a pointer or a tensor map
	To         *Reg    // address of the matrix, or nil for a tensor map
	Row, Col   Operand // first element: registers or constants
	Rows, Cols int
	Threads    int
}

// A Collective is a call that all threads of a warp or a block execute together.
type Collective struct {
	Name  string
	Block bool // all threads of the block instead of the warp
	// Values reports whether each thread contributes a value; that of a thread that has left the
	// kernel is missing.
	Values bool
	Most   int // number of threads that a named barrier expects, or 0 for other calls
}

// A SharedAccess is an access to shared memory outside roles.
type SharedAccess struct {
	Pos    Pos
	In     *Instr // the instruction
	Conds  []Condition
	Var    *Var // the variable, if it is accessed at a constant offset, or nil
	Reg    *Reg // the address, if the offset is not constant, or nil
	Offset int64
	Bytes  int64
	Writes bool
}

// A Product is an MMA of a warp on tiles of pipelines.
type Product struct {
	Pos   Pos
	Conds []Condition
	Role  *Role
	Sides [2]Side // the rows of A and of B
}

// A Side describes which part of an operand tile an MMA reads: N rows from row From on. Of is nil
// if the tile belongs to no pipeline.
type Side struct {
	Of   *PipelineTile
	Tile TileShape
	From Operand
	N    int
}

// A PipelineTile is one of the tiles in each stage of a pipeline.
type PipelineTile struct {
	Pipeline string
	Others   bool // code other than MMAs reads it, or may read it
	Turned   bool // the rows of the operand are columns of the tile
	Rows     int  // rows of the operand; 0 before the first MMA
}

// An Accumulator is a matrix in registers to which MMAs add.
type Accumulator struct {
	Pos       Pos
	Role      *Role    // the role that declared it; nil outside roles
	Clear     *Instr   // instruction that clears it, so that earlier contents are not read, or nil
	Registers [][]*Reg // in parts
	Words     int      // number of 32-bit registers
	// Owned is the number of operands that name each register in MMAs and when the accumulator is
	// cleared, or 0 if other code reads them too.
	Owned int
}

// Read reports whether an operand other than the owned ones names one of the registers.
func (a *Accumulator) Read() bool {
	for _, part := range a.Registers {
		for _, r := range part {
			if int(r.Uses) > a.Owned {
				return true
			}
		}
	}
	return false
}

// A Meeting is the first barrier for all threads of a block, or of a cluster, in a role.
type Meeting struct {
	Pos     Pos
	Role    *Role
	Group   int // roles of the same group run concurrently, and groups run one after the other
	Cluster bool
}

// An Arrival is a named barrier at which warps arrive but no warp waits.
type Arrival struct {
	Pos     Pos
	Barrier int
}

// A TileCorner is the row and the column of the block's tile, as a schedule computes them.
type TileCorner struct{ Row, Col *Reg }

// A Layout places the shared variables of a kernel in one array.
type Layout struct {
	Array  *Var // nil if the variables are declared one by one
	Placed []Placed
}

// A Placed is a variable with its offset in the array of a Layout.
type Placed struct {
	Var    *Var
	Offset int64
}

// Find returns the variable at an offset in the array v, and the offset within it. For any other
// variable it returns its arguments.
func (l *Layout) Find(v *Var, offset int64) (*Var, int64) {
	if v != l.Array {
		return v, offset
	}
	for _, p := range l.Placed {
		if size := p.Var.Size(); p.Offset <= offset && (offset < p.Offset+size || size == 0) {
			return p.Var, offset - p.Offset
		}
	}
	return v, offset
}
