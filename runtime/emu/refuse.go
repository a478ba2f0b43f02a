// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A result is an error code of the CUDA driver, with its name and its text.
type result struct {
	code       int
	name, text string
}

// results enumerates the error codes of the driver that the emulator returns in the same
// situations.
type results uint8

const (
	invalidValue results = iota
	outOfMemory
	noImage
	outOfResources
	cooperativeTooLarge
	invalidCluster
)

// result returns the driver's number, name and text.
func (r results) result() result {
	switch r {
	case outOfMemory:
		return result{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}
	case noImage:
		return result{209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
			"no kernel image is available for execution on the device"}
	case outOfResources:
		return result{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
			"too many resources requested for launch"}
	case cooperativeTooLarge:
		return result{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
			"too many blocks in cooperative launch"}
	case invalidCluster:
		return result{912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"}
	}
	return result{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"}
}

// refuse returns the error for a call that the CUDA driver would reject too. The note explains the
// reason.
func refuse(call string, r results, format string, args ...any) error {
	x := r.result()
	f := &device.Fault{Call: call, Code: x.code, Name: x.name, Text: x.text,
		Note: fmt.Sprintf(format,
			args...)}
	if r == outOfMemory {
		f.Kind = device.ErrMemory
	}
	return f
}
