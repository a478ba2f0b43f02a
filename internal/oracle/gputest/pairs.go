// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/internal/systems"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/driver"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// A pairRun counts the outcomes of many launches of a twin on a GPU. A pair consists of two
// twins: a kernel with a bug, and the corrected kernel.
type pairRun struct {
	Launches int
	Results  int    // number of different results
	Intended int    // number of launches with the result of the corrected twin in the emulator
	Fault    string // error of a launch, after which the device is unusable
}

// pairTimeout is the time after which the process that launches one kernel of a pair is killed.
const pairTimeout = 15 * time.Second

// Twin launches one twin of a pair many times on the first GPU, and writes a pairRun as JSON.
func Twin(w io.Writer, path string, launches int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	library, err := driver.Find()
	if err != nil {
		return err
	}
	d, err := library.Open(0)
	if err != nil {
		return err
	}
	intended, known := intendedResult(path, d.Info().Target)
	replay, err := check.NewReplay(d, filepath.Base(path), string(text))
	if err != nil {
		return err
	}
	var run pairRun
	results := make(map[uint64]bool)
	for range launches {
		result, err := replay.Once()
		if err != nil {
			run.Fault = oneLine(err)
			break
		}
		run.Launches++
		results[result] = true
		if known && result == intended {
			run.Intended++
		}
	}
	run.Results = len(results)
	return json.NewEncoder(w).Encode(run)
}

// intendedResult returns a hash of the corrected twin's result in the emulator. known is false if
// the emulator cannot run the kernel.
func intendedResult(path, target string) (result uint64, known bool) {
	path = strings.Replace(path, ".wrong.", ".right.", 1)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	var d device.Device
	if d, err = emu.New(emu.Options{Target: target}); err != nil {
		return 0, false
	}
	replay, err := check.NewReplay(d, filepath.Base(path), string(text))
	if err != nil {
		return 0, false
	}
	result, err = replay.Once()
	return result, err == nil
}

// Pairs launches the twins of all pairs in a directory, as package check tests them, on the first
// GPU. Each twin runs in a process of its own, several at a time. Pairs prints a table by
// directory, and writes a line for each twin to record.
func Pairs(w, record io.Writer, folder, target string, launches, parallel int) error {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.ptx"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s has no pairs: %v", folder, err)
	}
	runs := make([]string, len(files))
	next := make(chan int)
	var all sync.WaitGroup
	for range parallel {
		all.Go(func() {
			for i := range next {
				runs[i] = twin(files[i], target, launches)
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	all.Wait()
	counts := make(map[string]map[string]int)
	var folders []string
	for i, path := range files {
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(record, "%s\t%s\n", filepath.ToSlash(name), runs[i])
		family, kind := filepath.Dir(name), "right"
		if strings.Contains(name, ".wrong.") {
			kind = "wrong"
		}
		if counts[family] == nil {
			counts[family] = make(map[string]int)
			folders = append(folders, family)
		}
		verdict, _, _ := strings.Cut(runs[i], ":")
		counts[family][kind+" "+verdict]++
	}
	columns := []string{"intended", "varies", "other", "fault", "hangs", "refused", "not run"}
	fmt.Fprintf(w, "| family | twin | %s |\n|---|---|%s\n", strings.Join(columns, " | "),
		strings.Repeat("---:|", len(columns)))
	for _, family := range folders {
		for _, kind := range []string{"wrong", "right"} {
			fmt.Fprintf(w, "| %s | %s |", family, kind)
			for _, c := range columns {
				fmt.Fprintf(w, " %d |", counts[family][kind+" "+c])
			}
			fmt.Fprintln(w)
		}
	}
	return nil
}

// twin launches a twin in a child process. It returns the outcome as a text, with the number of
// launches.
func twin(path, target string, launches int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "not run: " + err.Error()
	}
	m, list := ptxdsl.Load(path, string(text))
	if m == nil {
		return "not run: " + oneLine(list.Err())
	}
	if built := m.Target.String(); !systems.Runs([]string{built}, target) {
		return "not run: it is for " + built
	}
	ctx, cancel := context.WithTimeout(context.Background(), pairTimeout)
	defer cancel()
	var out, problem bytes.Buffer
	cmd := exec.CommandContext(ctx, os.Args[0], "-twin", path, "-launches", fmt.Sprint(launches))
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); ctx.Err() != nil {
		return fmt.Sprintf("hangs: killed after %v", pairTimeout)
	} else if err != nil {
		return "refused: " + strings.TrimSpace(strings.ReplaceAll(problem.String(), "\n", " "))
	}
	var run pairRun
	if err := json.Unmarshal(out.Bytes(), &run); err != nil {
		return "refused: " + err.Error()
	}
	word := "other"
	switch {
	case run.Fault != "":
		word = "fault"
	case run.Results > 1:
		word = "varies"
	case run.Intended == run.Launches:
		word = "intended"
	}
	verdict := fmt.Sprintf("%s: %d of %d launches as intended, %d results", word, run.Intended,
		run.Launches, run.Results)
	if run.Fault != "" {
		verdict += ", " + run.Fault
	}
	return verdict
}
