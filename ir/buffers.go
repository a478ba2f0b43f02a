// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

// An Mbarrier is an array of mbarriers in shared memory.
type Mbarrier struct {
	Name   string
	Pos    Pos
	Count  int  // arrivals that complete a phase; 0 if the roles that would arrive are missing
	Waited Pos  // first wait by the author, or NoPos
	Comes  bool // something arrives, or may arrive
}

// An Output holds staging tiles, from which bulk copies store to a tensor map.
type Output struct {
	Map    string
	Pos    Pos
	Stored Pos  // first store, or NoPos
	Waited bool // the kernel waits for the stores
}

// A Buffer is memory that some threads fill and other threads read, part by part.
type Buffer struct {
	Name  string
	Kind  BufferKind
	Parts []BufferPart
	First Pos // first read, or NoPos
}

// A BufferKind is the kind of memory of a Buffer.
type BufferKind uint8

// Kinds of buffers.
const (
	TensorStage   BufferKind = iota // a stage of tiles of tensor maps, or of computed tiles
	CopiedStage                     // a stage that threads fill with cp.async
	TensorColumns                   // an accumulator in tensor memory; its parts are columns
)

// A BufferPart is a tile of a stage, or a column of an accumulator.
type BufferPart struct {
	Name string // of the tensor map, or the shape of the tile; empty for a column
	Read bool
}

// A SharedUse describes how the kernel uses a variable in shared memory.
type SharedUse struct {
	Var     *Var
	Read    Pos  // first read, or NoPos
	Written bool // or it may be written
}

// A MissingTile is a tile that the code which fills the stages of a pipeline does not write.
type MissingTile struct {
	Pos      Pos
	Pipeline string
	Kind     BufferKind
	Index    int    // of the tile in the stage
	Name     string // as in BufferPart
}
