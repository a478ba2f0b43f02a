// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ptxdsl/ptxdsl/internal/oracle/gpuagree/recordfile"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Record holds the results of a GPU. Note specifies the driver, the tools and the date of the
// recording.
type Record struct {
	Note    string
	Device  string
	Results []Result
}

// A Result is the result of one program: a hash of the output and, unless the record was trimmed,
// the compressed output. Error is set if the program failed.
type Result struct {
	ID    string
	Hash  uint64
	Raw   []byte
	Error string
}

// perModule is the number of kernels per cubin.
const perModule = 100

// Generate assembles all programs into cubins of perModule programs, writes them to a directory,
// and returns the number of programs.
func Generate(ctx context.Context, tool *ptxas.Tool, folder string) (int, error) {
	all := All()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	var ids []string
	for at := 0; at < len(all); at += perModule {
		some := all[at:min(at+perModule, len(all))]
		options := ptxas.Options{Target: Target, Flags: []string{"-O1"}}
		cubin, verdict, err := tool.Assemble(ctx, Module(some), options)
		if err != nil {
			return 0, err
		}
		if cubin == nil {
			return 0, fmt.Errorf("ptxas refuses programs: %v", verdict.Messages)
		}
		if err := os.WriteFile(filepath.Join(folder, cubinName(at)), cubin, 0o666); err != nil {
			return 0, err
		}
		for i := range some {
			ids = append(ids, some[i].ID)
		}
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	return len(ids), os.WriteFile(filepath.Join(folder, "programs.json"), text, 0o666)
}

func cubinName(at int) string { return fmt.Sprintf("p%04d.cubin", at/perModule) }

// Run runs the programs [from, to) of a directory on a device, and calls each with every result.
// It stops at the first program that makes the device unusable.
func Run(folder, device string, from, to int, each func(Result) error) error {
	all, err := generatedPrograms(folder)
	if err != nil {
		return err
	}
	dev, err := runtime.Open(device)
	if err != nil {
		return err
	}
	defer dev.Close()
	var module *runtime.Module
	for i := from; i < min(to, len(all)); i++ {
		if module == nil || i%perModule == 0 {
			name := cubinName(i)
			cubin, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				return err
			}
			if module, err = dev.LoadCubin(name, cubin); err != nil {
				return err
			}
		}
		r := Result{ID: all[i].ID}
		k, err := module.Kernel(fmt.Sprintf("k%d", i%perModule))
		if err != nil {
			return err
		}
		out, err := all[i].Run(dev, k)
		if err != nil {
			r.Error = err.Error()
		} else {
			r.Hash = hash(out)
			if r.Raw, err = recordfile.Deflate(out); err != nil {
				return err
			}
		}
		if err := each(r); err != nil {
			return err
		}
		if lost := dev.Lost(); lost != nil {
			return lost
		}
	}
	return nil
}

// generatedPrograms returns all programs. It checks that the directory was generated from the
// same programs.
func generatedPrograms(folder string) ([]Program, error) {
	text, err := os.ReadFile(filepath.Join(folder, "programs.json"))
	if err != nil {
		return nil, err
	}
	var ids []string
	if err := json.Unmarshal(text, &ids); err != nil {
		return nil, err
	}
	all := All()
	if len(ids) != len(all) {
		return nil, fmt.Errorf("%s was made by another version", folder)
	}
	for i := range all {
		if all[i].ID != ids[i] {
			return nil, fmt.Errorf("%s was made by another version: %s", folder, ids[i])
		}
	}
	return all, nil
}

// Bytes returns the output of a program, or nil if the record was trimmed.
func (r *Result) Bytes() ([]byte, error) {
	if r.Raw == nil {
		return nil, nil
	}
	return recordfile.Inflate(r.Raw)
}

// Trim removes the outputs from all results and keeps the hashes.
func (r *Record) Trim() {
	for i := range r.Results {
		r.Results[i].Raw = nil
	}
}

// Write writes a record to a file.
func (r *Record) Write(name string) error { return recordfile.Write(name, r) }

// Read reads a record.
func Read(name string) (*Record, error) {
	r := &Record{}
	if err := recordfile.Read(name, r); err != nil {
		return nil, err
	}
	return r, nil
}
