// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// absent is returned for a function that the driver lacks. It is not a CUresult.
const absent = 0xffff_ffff

// CUresult values that are handled specially.
const (
	errInvalidValue  = 1
	errOutOfMemory   = 2
	errDeinitialized = 4
	errNoDevice      = 100
	errInvalidDevice = 101
	errInvalidImage  = 200
	errNoBinary      = 209
	errPeerEnabled   = 704
	errECC           = 214
	errInvalidPTX    = 218
	errNVLink        = 220
	errUnsupported   = 222 // unsupported PTX version
	errNotFound      = 500
	errNotReady      = 600
	errIllegal       = 700
	errResources     = 701
	errTimeout       = 702
	errAssert        = 710
	errStack         = 714
	errInstruction   = 715
	errMisaligned    = 716
	errAddressSpace  = 717
	errProgram       = 718
	errLaunchFailed  = 719
	errContained     = 721
	errTooLarge      = 720 // cooperative launch too large
	errCluster       = 912
)

// isSticky reports whether an error makes the context unusable.
func isSticky(code uintptr) bool {
	switch code {
	case errDeinitialized, errECC, errNVLink, errIllegal, errTimeout, errAssert, errStack,
		errInstruction, errMisaligned, errAddressSpace,
		errProgram, errLaunchFailed, errContained:
		return true
	}
	return false
}

// advice returns advice for an error whose text in the driver does not explain it, or "".
func advice(code uintptr) string {
	switch code {
	case errIllegal:
		return "illegal memory access in a kernel: run it under compute-sanitizer or on the " +
			"emulator"
	case errMisaligned:
		return "misaligned address in a kernel: it is not a multiple of the access size"
	case errInstruction:
		return "illegal instruction in a kernel, such as an mbarrier operation on an " +
			"uninitialized mbarrier"
	case errLaunchFailed:
		return "a kernel failed while it ran"
	case errAssert:
		return "a kernel executed a trap"
	case errTimeout:
		return "a kernel ran longer than the system allows"
	case errResources:
		return "the block needs more registers or shared memory than a multiprocessor has"
	case errTooLarge:
		return "all blocks of a cooperative launch must run at the same time: make the grid " +
			"smaller"
	case errCluster:
		return "clusters of this size do not fit on the device with this much shared memory"
	case errNoBinary, errInvalidImage:
		return "the code is for another architecture, or it is damaged"
	}
	return ""
}

// fault converts a CUresult to an error.
func (l *Library) fault(f Function, code uintptr) *device.Fault {
	e := &device.Fault{Call: f.String(), Code: int(code), Note: advice(code)}
	if code == absent {
		e.Name, e.Text, e.Kind = "missing", "the driver does not have this function",
			device.ErrTooOld
		e.Note = "it was added in CUDA " + entries()[f].since
		return e
	}
	e.Name, e.Text = l.text(cuGetErrorName, code), l.text(cuGetErrorString, code)
	if e.Name == "" {
		e.Name, e.Text = fmt.Sprintf("CUresult %d", code), "unknown error"
	}
	switch {
	case code == errOutOfMemory:
		e.Kind = device.ErrMemory
	case code == errNoDevice || code == errInvalidDevice:
		e.Kind = device.ErrAbsent
	case isSticky(code):
		e.Kind = device.ErrLost
	}
	return e
}
