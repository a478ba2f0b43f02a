// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ptxas finds and runs NVIDIA's assembler. It assembles modules, checks them without
// generating code, and checks thousands of short probes in one call. It also parses the messages
// of ptxas. The package does not use the instruction table of package isa, so that ptxas and the
// table can be compared.
package ptxas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A Tool is a ptxas binary. It caches properties of the binary, so use one Tool for many calls.
// It is safe for concurrent use.
type Tool struct {
	Path string // path of the binary

	// Timeout is the maximum time of a run of ptxas on a module. A longer run counts as a crash.
	// Zero means DefaultTimeout.
	Timeout time.Duration

	// Workers is the maximum number of concurrent ptxas processes of a call; zero means one per
	// CPU.
	Workers int

	once  sync.Once
	facts facts
	err   error

	listing sync.Once
	list    []Target
	listErr error

	mutex sync.Mutex
	named map[string]Target // results of target; the zero Target for an unknown name
	pairs map[pair]bool     // results of Supports
}

// DefaultTimeout is the maximum time of a run of ptxas. The largest modules take minutes.
const DefaultTimeout = 10 * time.Minute

// New returns the Tool at path, without checking that it exists.
func New(path string) *Tool { return &Tool{Path: path} }

// ErrMissing is the error of Find if ptxas is not found.
var ErrMissing = errors.New("ptxas not found")

// Find returns the first ptxas of these: the file named by $PTXAS; the one that `make tools`
// installed in .tools, in the nearest parent directory with a go.mod; the one in $PATH; and the
// one in $CUDA_HOME/bin. If there is none, the text of the error explains how to install ptxas.
func Find() (*Tool, error) {
	if p := os.Getenv("PTXAS"); p != "" {
		// A wrong $PTXAS is an error, because another version must not be used silently.
		if !isProgram(p) {
			return nil, fmt.Errorf("%w: $PTXAS is %q, which is not a program", ErrMissing, p)
		}
		return New(p), nil
	}
	if p := Installed("ptxas"); p != "" {
		return New(p), nil
	}
	if p, err := exec.LookPath("ptxas"); err == nil {
		return New(p), nil
	}
	if home := os.Getenv("CUDA_HOME"); home != "" {
		if p := filepath.Join(home, "bin", "ptxas"); isProgram(p) {
			return New(p), nil
		}
	}
	return nil, fmt.Errorf("%w: run `make tools` in the project, or point $PTXAS at one "+
		"(looked at $PTXAS, .tools beside go.mod, $PATH and $CUDA_HOME/bin)", ErrMissing)
}

// Installed returns the path of a program that `make tools` or `make corpus-tools` installed, or
// "" if it is not installed.
func Installed(program string) string {
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			p := filepath.Join(folder, ".tools", "judge", "nvidia", "cu13", "bin", program)
			if isProgram(p) {
				return p
			}
			return ""
		}
		up := filepath.Dir(folder)
		if up == folder {
			return ""
		}
		folder = up
	}
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// A result is the result of one run of ptxas.
type result struct {
	messages []Message
	output   string
	code     int    // exit status
	crash    string // description of a crash; "" if ptxas exited
}

var crashText = regexp.MustCompile(
	`(?i)internal (?:compiler )?error|segmentation fault|assertion .*failed|core dumped`)

// run runs ptxas in a directory. The error is non-nil for failures that ptxas did not cause: the
// binary is missing, or the context was canceled.
func (t *Tool) run(ctx context.Context, limit time.Duration, folder string,
	args ...string) (result, error) {
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(inner, t.Path, args...)
	cmd.Dir = folder
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	r := result{output: out.String()}
	r.messages = parseMessages(r.output)
	var exit *exec.ExitError
	switch {
	case inner.Err() != nil:
		r.crash = fmt.Sprintf("no answer within %v", limit)
	case err == nil:
	case errors.As(err, &exit):
		r.code = exit.ExitCode()
		if !exit.Exited() {
			r.crash = exit.String()
		}
	default:
		return result{}, fmt.Errorf("cannot run ptxas: %w", err)
	}
	if r.crash == "" {
		for _, m := range r.messages {
			if m.Level >= Error && crashText.MatchString(m.Text) {
				r.crash = m.Text
			}
		}
	}
	if r.crash == "" && r.code != 0 && len(r.messages) == 0 {
		r.crash = fmt.Sprintf("exit status %d: %s", r.code, strings.TrimSpace(r.output))
	}
	return r, nil
}

func (t *Tool) limit() time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return DefaultTimeout
}

func (t *Tool) workers() int {
	if t.Workers > 0 {
		return t.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// scratch creates a temporary directory and returns a function that removes it.
func scratch() (string, func(), error) {
	folder, err := os.MkdirTemp("", "ptxas-")
	if err != nil {
		return "", nil, err
	}
	return folder, func() { os.RemoveAll(folder) }, nil
}
