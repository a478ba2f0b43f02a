// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// An assembler is a ptxas that is installed on this machine.
type assembler struct{ path string }

// findAssembler searches for ptxas as package internal/ptxas does.
func findAssembler() (assembler, error) {
	tool, err := ptxas.Find()
	if err != nil {
		return assembler{}, err
	}
	return assembler{tool.Path}, nil
}

// isOlder reports whether the assembler is older than a CUDA version such as "12.8", or its
// version is unknown.
func (a assembler) isOlder(than string) bool {
	out, err := exec.Command(a.path, "--version").Output()
	if err != nil {
		return true
	}
	number := regexp.MustCompile(`release (\d+)\.(\d+)`)
	have, ok := parse(number, string(out))
	want, _ := parse(number, "release "+than)
	return !ok || have.isOlder(want)
}

// assemble assembles a module to a cubin for a compute capability, which may be newer than the
// module's target. If ptxas fails, log is its output.
func (a assembler) assemble(image device.Image,
	capability int) (cubin []byte, log string, err error) {
	folder, err := os.MkdirTemp("", "ptxdsl-")
	if err != nil {
		return nil, "", err
	}
	// a file that cannot be removed is left to the system
	defer func() { _ = os.RemoveAll(folder) }()
	in, out := filepath.Join(folder, "m.ptx"), filepath.Join(folder, "m.cubin")
	if err := os.WriteFile(in, []byte(image.PTX), 0o600); err != nil {
		return nil, "", err
	}
	target := fmt.Sprintf("sm_%d", capability)
	if m := regexp.MustCompile(`(?m)^\s*\.target\s+sm_\d+([af])\b`).FindStringSubmatch(
		image.PTX); m != nil {
		target += m[1]
	}
	args := []string{"-arch", target, "-o", out}
	if image.Debug {
		args = append(args, "-lineinfo")
	}
	text, err := exec.Command(a.path, append(args, in)...).CombinedOutput()
	if err != nil {
		return nil, string(text), fmt.Errorf("%s: %w", a.path, err)
	}
	cubin, err = os.ReadFile(out)
	return cubin, string(text), err
}
