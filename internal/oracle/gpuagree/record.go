// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/oracle/gpuagree/recordfile"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// maxResults is the maximum number of result columns of a case.
const maxResults = 32

// A Record holds the results of a GPU. Note specifies the driver, the tools and the date.
type Record struct {
	Note    string
	Device  string
	Target  string
	Version string
	Results []Result
}

// A Result is the result of a GPU for one case. Each hash covers all result columns of one warp.
// Raw results are kept for approximate instructions, and if they differ from the expected ones.
type Result struct {
	ID     string
	Hashes []uint64
	Short  []byte // replaces Hashes in a trimmed record: four bytes of each hash
	Raw    []byte // 64-bit words, compressed
	Error  string
}

// matches reports whether the hashes are those of the given results.
func (r *Result) matches(want []uint64) bool {
	list := hashes(want)
	if r.Short != nil {
		return bytes.Equal(shorten(list), r.Short)
	}
	return slices.Equal(list, r.Hashes)
}

// shorten returns four bytes of every hash.
func shorten(hashes []uint64) []byte {
	var b []byte
	for _, h := range hashes {
		b = binary.LittleEndian.AppendUint32(b, uint32(h^h>>32))
	}
	return b
}

// Trim shortens the hashes of a record. It removes raw results, except those of approximate
// instructions that differ from the expected ones. The record still covers all cases and inputs.
func (r *Record) Trim() error {
	s, err := NewSetting(r.Version, r.Target)
	if err != nil {
		return err
	}
	for i := range r.Results {
		result := &r.Results[i]
		c := s.byID[result.ID]
		if c == nil {
			return fmt.Errorf("case %s is not known", result.ID)
		}
		if !c.isApproximate() || result.matches(c.Expect(s.Inputs)) {
			result.Raw = nil
		}
		result.Short, result.Hashes = shorten(result.Hashes), nil
	}
	return nil
}

// hashes returns one hash for the results of each warp.
func hashes(out []uint64) []uint64 {
	list := make([]uint64, Rows/32)
	var word [8]byte
	for warp := range list {
		h := fnv.New64a()
		for column := 0; column < len(out); column += Rows {
			for lane := range 32 {
				x := out[column+warp*32+lane]
				for i := range word {
					word[i] = byte(x >> (8 * i))
				}
				h.Write(word[:])
			}
		}
		list[warp] = h.Sum64()
	}
	return list
}

// deflate compresses words. The bytes of equal significance are stored together, which compresses
// better.
func deflate(words []uint64) ([]byte, error) {
	planes := make([]byte, 8*len(words))
	for i := range 8 {
		for j, x := range words {
			planes[i*len(words)+j] = byte(x >> (8 * i))
		}
	}
	return recordfile.Deflate(planes)
}

func inflate(packed []byte) ([]uint64, error) {
	all, err := recordfile.Inflate(packed)
	if err != nil || len(all)%8 != 0 {
		return nil, fmt.Errorf("packed results of %d bytes: %v", len(all), err)
	}
	words := make([]uint64, len(all)/8)
	for i := range 8 {
		for j := range words {
			words[j] |= uint64(all[i*len(words)+j]) << (8 * i)
		}
	}
	return words, nil
}

// Run runs the kernels of a directory on a device and returns their results.
func Run(folder, device string, log func(string)) (*Record, error) {
	text, err := os.ReadFile(filepath.Join(folder, "plan.json"))
	if err != nil {
		return nil, err
	}
	var plan Plan
	if err := json.Unmarshal(text, &plan); err != nil {
		return nil, err
	}
	s, err := NewSetting(plan.Version, plan.Target)
	if err != nil {
		return nil, err
	}
	dev, err := runtime.Open(device)
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	in, err := runtime.Upload(dev, s.Inputs.Words())
	if err != nil {
		return nil, err
	}
	info := fmt.Sprintf("%+v", dev.Info())
	record := &Record{Device: info, Target: plan.Target, Version: plan.Version}
	for _, m := range plan.Modules {
		cubin, err := os.ReadFile(filepath.Join(folder, m.Cubin))
		if err != nil {
			return nil, err
		}
		results, err := runModule(dev, m, cubin, s, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Cubin, err)
		}
		record.Results = append(record.Results, results...)
		log(fmt.Sprintf("%s: %d cases", m.Cubin, len(results)))
	}
	return record, nil
}

func runModule(dev *runtime.Device, m PlanModule, cubin []byte, s *Setting,
	in *runtime.Buffer[uint64]) ([]Result, error) {
	module, err := dev.LoadCubin(m.Cubin, cubin)
	if err != nil {
		return nil, err
	}
	out, err := runtime.Alloc[uint64](dev, maxResults*Rows)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	var results []Result
	words := make([]uint64, maxResults*Rows)
	for i, id := range m.Cases {
		c := s.byID[id]
		if c == nil {
			return nil, fmt.Errorf("%s is not known: the folder was made by another version", id)
		}
		k, err := module.Kernel(fmt.Sprintf("k%d", i))
		if err != nil {
			return nil, err
		}
		if err := out.Fill(0); err != nil {
			return nil, err
		}
		if err := k.Launch(runtime.Grid(1).Block(Rows), in, out); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		some, err := out.Slice(0, c.results()*Rows)
		if err != nil {
			return nil, err
		}
		if err := some.Read(words[:some.Len()]); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		r, err := c.result(words, s.Inputs)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// result builds the Result of a case.
func (c *Case) result(words []uint64, in *Inputs) (Result, error) {
	got := append([]uint64(nil), words[:c.results()*Rows]...)
	c.truncate(got)
	r := Result{ID: c.ID, Hashes: hashes(got)}
	same := true
	for i, x := range c.Expect(in) {
		same = same && x == got[i]
	}
	if same {
		return r, nil
	}
	var err error
	r.Raw, err = deflate(got)
	return r, err
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
