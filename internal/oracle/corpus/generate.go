// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// sources has the sources of the kernels.
//
//go:embed cuda/*.cu triton/*.py
var sources embed.FS

// A Maker compiles the corpus.
type Maker struct {
	Tools  string // directory with the compilers, from `make corpus-tools`
	Output string // directory for the PTX files
	Match  func(name string) bool
	// Progress is called after each file, from several goroutines concurrently; it may be nil.
	Progress func(made, of int, what string)
}

// workplace returns the directory in which sources are compiled. Compilers write the paths of
// sources and headers into PTX, so the directory must have the same path on every machine.
func workplace() string { return filepath.Join(os.TempDir(), "ptxdsl-corpus") }

// Make compiles the corpus and returns the number of files that it created. Existing files are
// kept. After a failure it continues with the next file; the error joins all failures.
func (m *Maker) Make(ctx context.Context) (int, error) {
	place := workplace()
	if err := os.RemoveAll(place); err != nil {
		return 0, err
	}
	defer os.RemoveAll(place)
	if err := os.MkdirAll(m.Output, 0o755); err != nil {
		return 0, err
	}
	made, failure := m.cudaOnly(ctx, place)
	more, err := m.triton(ctx, place)
	return made + more, errors.Join(failure, err, ctx.Err())
}

// cudaOnly compiles the CUDA C++ part of the corpus.
func (m *Maker) cudaOnly(ctx context.Context, place string) (int, error) {
	if err := os.CopyFS(filepath.Join(place, "source"), sources); err != nil {
		return 0, err
	}
	cuda, err := filepath.Abs(filepath.Join(m.Tools, "nvidia", "cu13"))
	if err != nil {
		return 0, err
	}
	if err := os.Symlink(cuda, filepath.Join(place, "cuda")); err != nil {
		return 0, err
	}
	var units []Unit
	for _, u := range Units() {
		if _, err := os.Stat(filepath.Join(m.Output, u.Name())); errors.Is(err, fs.ErrNotExist) &&
			m.isWanted(u.Name()) {
			units = append(units, u)
		}
	}
	var made, finished atomic.Int64
	failures := make([]error, len(units))
	work := make(chan int)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range work {
				if ctx.Err() != nil {
					continue
				}
				if failures[i] = m.cuda(ctx, place, units[i]); failures[i] == nil {
					made.Add(1)
				}
				if m.Progress != nil {
					m.Progress(int(finished.Add(1)), len(units), units[i].String())
				}
			}
		})
	}
	for i := range units {
		work <- i
	}
	close(work)
	group.Wait()
	return int(made.Load()), errors.Join(failures...)
}

func (m *Maker) isWanted(name string) bool { return m.Match == nil || m.Match(name) }

// cuda compiles one unit to a temporary file, and moves the file to the output directory.
func (m *Maker) cuda(ctx context.Context, place string, u Unit) error {
	partial := filepath.Join(place, u.Name())
	args := append([]string{"-ptx", "-std=c++20", "-w", "--extended-lambda",
		"--expt-relaxed-constexpr", "-arch=" + u.Target}, u.Flags...)
	args = append(args, "-o", partial, u.Source+".cu")
	cmd := exec.CommandContext(ctx, filepath.Join(place, "cuda", "bin", "nvcc"), args...)
	cmd.Dir = filepath.Join(place, "source", "cuda")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", u, err, head(text, 12))
	}
	return move(partial, filepath.Join(m.Output, u.Name()))
}

// triton runs the script that compiles the Triton part, and moves its output to the output
// directory.
func (m *Maker) triton(ctx context.Context, place string) (int, error) {
	output := filepath.Join(place, "triton")
	if err := os.Mkdir(output, 0o755); err != nil {
		return 0, err
	}
	tools, err := filepath.Abs(m.Tools)
	if err != nil {
		return 0, err
	}
	// Triton writes the path of its library into PTX, so the library gets a path that is the same
	// on every machine.
	library := filepath.Join(place, "tools")
	if err := os.Symlink(tools, library); err != nil {
		return 0, err
	}
	have, err := filepath.Glob(filepath.Join(m.Output, "triton_*.ptx"))
	if err != nil {
		return 0, err
	}
	skip := make([]string, len(have))
	for i, name := range have {
		skip[i] = filepath.Base(name)
	}
	cmd := exec.CommandContext(ctx, "python3", "kernels.py", output)
	cmd.Dir = filepath.Join(place, "source", "triton")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+library, "PYTHONHASHSEED=0",
		"TRITON_CACHE_DIR="+filepath.Join(place, "cache"))
	cmd.Stdin = strings.NewReader(strings.Join(skip, "\n"))
	text, failure := cmd.CombinedOutput()
	if failure != nil {
		failure = fmt.Errorf("triton: %w\n%s", failure, head(text, 30))
	}
	names, err := filepath.Glob(filepath.Join(output, "*.ptx"))
	if err != nil {
		return 0, err
	}
	slices.Sort(names)
	made := 0
	for _, name := range names {
		if !m.isWanted(filepath.Base(name)) {
			continue
		}
		if err := move(name, filepath.Join(m.Output, filepath.Base(name))); err != nil {
			return made, err
		}
		made++
	}
	return made, failure
}

// move moves a file, also to another file system, so that the destination is never incomplete.
func move(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

func head(text []byte, lines int) string {
	list := strings.SplitAfterN(string(text), "\n", lines+1)
	return strings.Join(list[:min(lines, len(list))], "")
}
