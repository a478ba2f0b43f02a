// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ptxas finds NVIDIA's assembler and uses it as a judge: it assembles modules, checks them
// without generating code, and settles thousands of short probes in one call. It turns what ptxas
// prints into messages with lines. It knows nothing of the instruction table: the two must stay
// independent, or they could not disagree.
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

// A Tool is one ptxas binary. What it learns about the binary is kept in the Tool, so use one Tool
// for many calls. It is safe for concurrent use.
type Tool struct {
	Path string // the binary

	// Timeout bounds one run of ptxas over a module; a longer one counts as a crash. Zero means
	// DefaultTimeout.
	Timeout time.Duration

	// Workers is how many ptxas processes a call may run at once; zero means one per CPU.
	Workers int

	once  sync.Once
	facts facts
	err   error

	listing sync.Once
	list    []Target
	listErr error

	mutex sync.Mutex
	named map[string]Target // what target found; the zero Target for a word that is none
	pairs map[pair]bool     // what Supports found
}

// DefaultTimeout bounds one run of ptxas: generous, since the largest modules take minutes to
// optimise.
const DefaultTimeout = 10 * time.Minute

// New returns the Tool at path, whether or not anything is there.
func New(path string) *Tool { return &Tool{Path: path} }

// ErrMissing is the error of Find when there is no ptxas.
var ErrMissing = errors.New("ptxas not found")

// Find looks for ptxas, in this order: the file named by $PTXAS; the .tools folder that `make
// tools` fills, beside the nearest go.mod upwards from the working directory; $PATH; and
// $CUDA_HOME/bin. The error says what to do.
func Find() (*Tool, error) {
	if p := os.Getenv("PTXAS"); p != "" {
		// A wrong $PTXAS must not fall back on another version in silence.
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

// Installed returns the path of a program that `make tools` or `make corpus-tools` installed, ""
// when it is not there.
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

// A result is one run of ptxas.
type result struct {
	messages []Message
	output   string
	code     int    // exit status
	crash    string // how it died, "" if it ended by itself
}

var crashText = regexp.MustCompile(`(?i)internal (?:compiler )?error|segmentation fault|assertion .*failed|core dumped`)

// run runs ptxas in a folder. The error is for what is not ptxas's doing: the binary is missing,
// the context has ended.
func (t *Tool) run(ctx context.Context, limit time.Duration, folder string, args ...string) (result, error) {
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

// scratch makes a folder for one call and the function that removes it.
func scratch() (string, func(), error) {
	folder, err := os.MkdirTemp("", "ptxas-")
	if err != nil {
		return "", nil, err
	}
	return folder, func() { os.RemoveAll(folder) }, nil
}
