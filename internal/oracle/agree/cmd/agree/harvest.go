// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/oracle/agree"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// harvest tries every known modifier with every form, and prints the instructions that ptxas
// accepts and the table lacks. If binary is set, it first searches the ptxas binary for more
// modifiers.
func harvest(set *isa.Set, tool *ptxas.Tool, c agree.HarvestConfig, binary bool) error {
	ctx := context.Background()
	c.Words = agree.Words(set)
	if binary {
		v, err := agree.ReadVocabulary(ctx, set, tool)
		if err != nil {
			return err
		}
		fmt.Printf("%d strings and concatenations; %d words besides the table's and the list's: %s\n",
			v.Strings, len(v.New), strings.Join(v.New, " "))
		fmt.Printf("%d strings as names of instructions; the table lacks %d: %s\n",
			v.Dotted, len(v.Names), strings.Join(v.Names, " "))
		if len(v.Names) > 0 {
			return fmt.Errorf("the assembler knows %d instructions that the table lacks",
				len(v.Names))
		}
		c.Words = append(c.Words, v.New...)
	}
	c.Report = func(d agree.Dispute) {
		fmt.Printf("%s at %s\n\t%s\n\tform %s\n\ttable: %s\n", d.What, d.Place, d.Text, d.Form,
			d.Ours)
	}
	h, err := agree.RunHarvest(ctx, set, tool, c)
	if err != nil {
		return err
	}
	if c.Progress != nil {
		fmt.Fprintln(os.Stderr)
	}
	fmt.Printf("%d words on %d forms: %d probes, %d excepted, %d that the table lacks\n",
		h.Words, h.Forms, h.Probes, h.Excepted, len(h.Found))
	if len(h.Found) > 0 {
		return fmt.Errorf("the assembler accepts %d instructions that the table lacks",
			len(h.Found))
	}
	return nil
}
