// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// mostResults is the maximum number of result columns of a case.
const mostResults = 32

// A Record holds what a GPU computed. Note says with which driver and tools, and when.
type Record struct {
	Note    string
	Device  string
	Target  string
	Version string
	Results []Result
}

// A Result is what a GPU computed for one case. Each hash covers all result columns of one warp.
// Raw results are kept if they differ from the expected ones, and for approximate instructions.
type Result struct {
	ID     string
	Hashes []uint64
	Short  []byte // replaces Hashes in a trimmed record: four bytes of each
	Raw    []byte // 64-bit words, compressed
	Error  string
}

// agrees reports whether the hashes match the given results.
func (r *Result) agrees(want []uint64) bool {
	list := hashes(want)
	if r.Short != nil {
		return bytes.Equal(shorten(list), r.Short)
	}
	return slices.Equal(list, r.Hashes)
}

// shorten keeps four bytes of every hash.
func shorten(hashes []uint64) []byte {
	var b []byte
	for _, h := range hashes {
		b = binary.LittleEndian.AppendUint32(b, uint32(h^h>>32))
	}
	return b
}

// Trim shortens the hashes of a record, and drops raw results except those of approximate
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
		if !c.approximate() || result.agrees(c.Expect(s.Inputs)) {
			result.Raw = nil
		}
		result.Short, result.Hashes = shorten(result.Hashes), nil
	}
	return nil
}

// hashes returns a hash of the results of each warp.
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

// deflate compresses words. Bytes of equal significance are stored together, which compresses
// better.
func deflate(words []uint64) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	plane := make([]byte, len(words))
	for i := range 8 {
		for j, x := range words {
			plane[j] = byte(x >> (8 * i))
		}
		if _, err := w.Write(plane); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return b.Bytes(), err
}

func inflate(packed []byte) ([]uint64, error) {
	all, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
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

// Run runs the kernels of a folder on a device.
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
	out, err := runtime.Alloc[uint64](dev, mostResults*Rows)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	var results []Result
	words := make([]uint64, mostResults*Rows)
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
	c.clean(got)
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
func (r *Record) Write(name string) error {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return err
	}
	if err := gob.NewEncoder(w).Encode(r); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

// Read reads a record.
func Read(name string) (*Record, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := gob.NewDecoder(flate.NewReader(bytes.NewReader(b))).Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
