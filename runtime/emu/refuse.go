// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A result is an error of the CUDA driver, with its number, name and text.
type result struct {
	code       int
	name, text string
}

// results are the errors that the emulator returns where the driver does.
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

// refuse returns the error of a call that the driver rejects too, with a note that explains why.
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
