// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Judge checks probes with ptxas in parse-only mode, under one .version and .target, and returns
// their verdicts in order. The error is non-nil for failures that no probe caused: an invalid
// version or target, a missing ptxas, or a canceled context.
//
// A probe is only accepted if it was part of a run of ptxas without any error. If some probes of
// a batch fail, the batch is run again without them, because ptxas makes some of its checks only
// if earlier checks find no errors. ptxas stops reading a file at a syntax error, so the probes
// after it are checked again in smaller files. One process of ptxas reads many independent files,
// so that a syntax error only affects the probes of one small file.
func (t *Tool) Judge(ctx context.Context, version, target string,
	probes []Probe) ([]Verdict, error) {
	at, err := t.Target(ctx, target)
	if err != nil {
		return nil, err
	}
	if ok, err := t.Supports(ctx, version, target); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("no probe can be judged: .version %s does not take .target %s",
			version, target)
	}
	folder, done, err := scratch()
	if err != nil {
		return nil, err
	}
	defer done()
	b := &batch{
		tool: t, version: version, target: target, arch: at.Arch,
		probes: probes, verdicts: make([]Verdict, len(probes)),
	}
	return b.verdicts, b.judgeAll(ctx, folder)
}

// A batch holds the state of one call of Judge.
type batch struct {
	tool                  *Tool
	version, target, arch string
	probes                []Probe
	// each element is written only by the worker to which its probe belongs
	verdicts []Verdict
}

// A job is a list of probes for one run of ptxas.
type job struct {
	probes []int
	size   int  // probes per file
	alone  bool // the probes must not share a file
}

// judgeTime is the maximum time of a run of ptxas over probes. A run normally takes 0.1 s.
const judgeTime = 30 * time.Second

const (
	// probes per run; with more probes per run, the time to start ptxas hardly decreases
	chunk    = 4096
	maxFiles = 2000 // files per run
)

// smaller returns the next file size for probes after a syntax error.
func smaller(size int) int {
	switch {
	case size > 32:
		return 32
	case size > 4:
		return 4
	}
	return 1
}

// judgeAll distributes the probes over the workers.
func (b *batch) judgeAll(ctx context.Context, folder string) error {
	var together, alone []int
	for i := range b.probes {
		if isContained(&b.probes[i]) {
			together = append(together, i)
		} else {
			alone = append(alone, i)
		}
	}
	var jobs []job
	share := min(max(len(together)/b.tool.workers()+1, 256), chunk)
	for len(together) > 0 {
		n := min(share, len(together))
		jobs = append(jobs, job{probes: together[:n], size: n})
		together = together[n:]
	}
	for len(alone) > 0 {
		n := min(maxFiles, len(alone))
		jobs = append(jobs, job{probes: alone[:n], size: 1, alone: true})
		alone = alone[n:]
	}
	work := make(chan job)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for i := range min(b.tool.workers(), len(jobs)) {
		group.Go(func() {
			mine := filepath.Join(folder, strconv.Itoa(i))
			for j := range work {
				if err := b.runJobs(ctx, mine, j); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, j := range jobs {
		work <- j
	}
	close(work)
	group.Wait()
	return context.Cause(ctx)
}

// runJobs runs a job and the jobs that result from it, until every probe of first has a verdict.
func (b *batch) runJobs(ctx context.Context, folder string, first job) error {
	open := []job{first}
	for len(open) > 0 {
		j := open[len(open)-1]
		open = open[:len(open)-1]
		if len(j.probes) == 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		sheets, r, err := b.run(ctx, folder, j)
		if err != nil {
			return err
		}
		if len(sheets) == 1 && r.crash == "" && r.code == 0 && worst(r.messages) < Error {
			b.accept(sheets[0], r)
			continue
		}
		if r.crash != "" {
			open = append(open, b.splitCrash(j, r)...)
			continue
		}
		open = append(open, b.splitErrors(j, sheets, r)...)
	}
	return nil
}

// run writes the probes of a job to files and runs ptxas on them.
func (b *batch) run(ctx context.Context, folder string, j job) ([]*sheet, result, error) {
	if err := os.RemoveAll(folder); err != nil {
		return nil, result{}, err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, result{}, err
	}
	var sheets []*sheet
	args := []string{"-arch", b.arch, "-o", os.DevNull}
	for rest := j.probes; len(rest) > 0; {
		n := min(j.size, len(rest))
		name := strconv.Itoa(len(sheets))
		s := compose(b.version, b.target, b.probes, rest[:n])
		if err := os.WriteFile(filepath.Join(folder, name), s.text, 0o600); err != nil {
			return nil, result{}, err
		}
		sheets = append(sheets, s)
		args = append(args, name)
		rest = rest[n:]
	}
	r, err := b.tool.run(ctx, min(judgeTime, b.tool.limit()), folder, args...)
	return sheets, r, err
}

// accept accepts the probes of a run over a single file that ended without errors. A run over
// several files would not be sufficient, because ptxas makes its last checks only for the last
// file.
func (b *batch) accept(s *sheet, r result) {
	for _, m := range r.messages {
		o := s.owner(m.Line)
		if o.body == absorber {
			continue
		}
		for k := o.first; k <= o.last; k++ {
			b.note(s.probes[k], m, o)
		}
	}
	for _, n := range s.probes {
		b.verdicts[n].Status = Accepted
	}
}

// note adds a message to the verdict of a probe.
func (b *batch) note(probe int, m Message, o span) {
	m.File, m.Line = "", o.body
	v := &b.verdicts[probe]
	v.Messages = append(v.Messages, m)
}

func sheetOf(sheets []*sheet, m Message) (*sheet, bool) {
	i, err := strconv.Atoi(m.File)
	if err != nil || i < 0 || i >= len(sheets) || m.Line == 0 {
		return nil, false
	}
	return sheets[i], true
}

// splitCrash handles a crash of ptxas: it divides the job until a single probe remains, which
// gets the verdict Crashed.
func (b *batch) splitCrash(j job, r result) []job {
	if len(j.probes) == 1 {
		v := &b.verdicts[j.probes[0]]
		v.Status, v.Messages = Crashed, append(r.messages, Message{Level: Fatal, Text: r.crash})
		return nil
	}
	return halves(j)
}

func halves(j job) []job {
	half := len(j.probes) / 2
	return []job{{j.probes[half:], j.size, j.alone}, {j.probes[:half], j.size, j.alone}}
}

// splitErrors handles a run with errors. It sets the verdicts of probes that caused errors, and
// returns jobs for all other probes.
func (b *batch) splitErrors(j job, sheets []*sheet, r result) []job {
	said := make(map[*sheet][]Message)
	var lost []Message // errors without a file name
	for _, m := range r.messages {
		if s, ok := sheetOf(sheets, m); ok {
			said[s] = append(said[s], m)
		} else if m.Level >= Error {
			lost = append(lost, m)
		}
	}
	var confirm, again []int
	settled := false
	for _, s := range sheets {
		bad, clean, rest := b.read(s, said[s])
		settled = settled || bad > 0
		confirm = append(confirm, clean...)
		again = append(again, rest...)
	}
	switch {
	case settled || len(again) > 0 || len(sheets) > 1:
	case len(j.probes) == 1:
		// all errors belong to the only probe, whatever file the messages refer to
		b.verdicts[j.probes[0]] = Verdict{Status: Rejected, Messages: lost}
		return nil
	default:
		return halves(j)
	}
	var open []job
	size := smaller(j.size)
	for len(again) > 0 {
		n := min(size*maxFiles, len(again), chunk)
		open = append(open, job{again[:n], size, j.alone})
		again = again[n:]
	}
	if j.alone {
		for i := range confirm {
			open = append(open, job{confirm[i : i+1], 1, true})
		}
		return open
	}
	return append(open, job{confirm, len(confirm), false})
}

// read handles the messages about one file. It sets the verdicts of the probes that caused errors
// and returns their number. It also returns the probes without errors, and the probes to check
// again, because a syntax error came before them or an error may belong to several probes.
func (b *batch) read(s *sheet, said []Message) (bad int, clean, again []int) {
	status := make([]Status, len(s.probes))
	shared := make([]bool, len(s.probes))
	end := len(s.probes) // index of the first probe that ptxas did not read
	for _, m := range said {
		o := s.owner(m.Line)
		if m.Level < Error || o.body == absorber && m.Level == Error {
			continue
		}
		mark := Rejected
		if m.Level == Fatal {
			mark = Malformed
			end = o.last + 1
		}
		if o.first == o.last {
			status[o.first] = max(status[o.first], mark)
			continue
		}
		for k := o.first; k <= o.last; k++ {
			shared[k] = true
		}
		if m.Level == Fatal && o.first > 0 {
			// the preceding probe may have caused the error, for example with an unclosed string
			shared[o.first-1] = true
		}
	}
	for k, n := range s.probes {
		switch {
		case k >= end || shared[k]:
			again = append(again, n)
			status[k] = Accepted
		case status[k] == Accepted:
			clean = append(clean, n)
		default:
			bad++
			b.verdicts[n] = Verdict{Status: status[k]}
		}
	}
	for _, m := range said {
		if o := s.owner(m.Line); o.body != absorber && o.first == o.last &&
			status[o.first] != Accepted {
			b.note(s.probes[o.first], m, o)
		}
	}
	return bad, clean, again
}
