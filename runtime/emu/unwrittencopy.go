// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import "fmt"

// An unwrittenCopy is a copy to shared memory of n bytes from offset off of a region of global
// memory, some of which were never written.
type unwrittenCopy struct {
	at, n uint64
	from  *region
	off   uint64
}

// maxUnwrittenCopies limits the copies that a region of shared memory records.
const maxUnwrittenCopies = 64

// recordCopy records a copy, and forgets the oldest one if there are too many.
func (r *region) recordCopy(c unwrittenCopy) {
	if len(r.unwritten) == maxUnwrittenCopies {
		r.unwritten = append(r.unwritten[:0], r.unwritten[1:]...)
	}
	r.unwritten = append(r.unwritten, c)
}

// copySource describes the global memory from which the byte at an offset was copied, if it was
// never written there.
func (r *region) copySource(at uint64) []string {
	if r == nil {
		return nil
	}
	for i := len(r.unwritten) - 1; i >= 0; i-- {
		if c := &r.unwritten[i]; at >= c.at && at < c.at+c.n {
			return []string{fmt.Sprintf(
				"it was copied from global memory that was never written: byte %d of %s",
				c.off+at-c.at, c.from)}
		}
	}
	return nil
}
