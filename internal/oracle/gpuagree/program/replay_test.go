// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"os"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestReplay runs the programs in the emulator and compares the results with the record of an H100.
func TestReplay(t *testing.T) {
	file := "testdata/h100.rec"
	if name := os.Getenv("RECORD"); name != "" {
		file = name
	}
	record, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]*Result{}
	for i := range record.Results {
		recorded[record.Results[i].ID] = &record.Results[i]
	}
	var dev *runtime.Device
	defer func() { dev.Close() }()
	sum := [3]int{}
	families := map[string]*[3]int{}
	for _, p := range All() {
		if pick := os.Getenv("PICK"); !strings.Contains(p.Family+" "+p.ID, pick) {
			continue
		}
		if dev == nil || dev.Lost() != nil {
			if dev, err = runtime.Open("emu:" + Target); err != nil {
				t.Fatal(err)
			}
		}
		n := families[p.Family]
		if n == nil {
			n = &[3]int{}
			families[p.Family] = n
		}
		n[0]++
		want := recorded[p.ID]
		if want == nil {
			t.Errorf("%s: %s is not in the record", p.Family, p.ID)
			continue
		}
		got, err := p.Emulate(dev)
		switch {
		case err != nil && want.Error != "":
			n[1]++
		case err != nil:
			t.Errorf("%s: %s: %v", p.Family, p.ID, err)
		case want.Error != "":
			t.Errorf("%s: %s: no error, but one on the GPU: %.150s", p.Family, p.ID, want.Error)
		case hash(got) != want.Hash:
			b, err := want.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: %s: %s", p.Family, p.ID, firstDifference(got, b))
		default:
			n[2]++
		}
	}
	for name, n := range families {
		for i := range sum {
			sum[i] += n[i]
		}
		t.Logf("%s: %d programs, %d equal, %d fail on both", name, n[0], n[2], n[1])
	}
	if want := [3]int{2657, 136, 2521}; os.Getenv("PICK") == "" && sum != want {
		t.Errorf("programs, failing on both, equal: %d, want %d", sum, want)
	}
}
