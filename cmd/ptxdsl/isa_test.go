// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/notation"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestEveryForm prints the whole table as text and as JSON: every form can be printed, each is one
// JSON object, and no condition is empty.
func TestEveryForm(t *testing.T) {
	forms := 0
	for ins := range isa.Standard().All() {
		forms += len(ins.Forms)
	}
	var out, errs strings.Builder
	if code := run([]string{"isa", "*"}, nil, &out, &errs); code != exitClean {
		t.Fatalf("exit %d, %s", code, &errs)
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 &&
			(fields[0] == "when" && fields[1] == notation.Never ||
				strings.Contains(line, "with "+notation.Never)) {
			t.Errorf("a condition that is never met is shown: %s", line)
		}
	}
	out.Reset()
	if code := run([]string{"isa", "-json"}, nil, &out, &errs); code != exitClean {
		t.Fatalf("exit %d, %s", code, &errs)
	}
	got := 0
	lines := bufio.NewScanner(strings.NewReader(out.String()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var f jsonForm
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil || f.Name == "" || f.Form == "" ||
			f.Family == "" {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		got++
	}
	if got != forms || lines.Err() != nil {
		t.Errorf("%d objects for %d forms, %v", got, forms, lines.Err())
	}
}
