// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// A Level is the severity of a message. Levels increase with severity.
type Level uint8

// The levels. After a Fatal message ptxas stops reading the file, so that later lines are not
// checked.
const (
	Info Level = iota
	Warning
	Error
	Fatal
)

// String returns the word that ptxas prints for the level.
func (l Level) String() string {
	switch l {
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "fatal"
}

// A Message is one message of ptxas.
type Message struct {
	File  string // as given to ptxas; "" if the message has none
	Line  int    // line number from 1, or 0 if the message has none
	Level Level
	Code  string // code of an advisory message, such as C7515; usually ""
	Text  string
}

// String returns the message as ptxas prints it, without the program name.
func (m Message) String() string {
	var b strings.Builder
	if m.Line > 0 {
		b.WriteString("line ")
		b.WriteString(strconv.Itoa(m.Line))
		b.WriteString("; ")
	}
	b.WriteString(m.Level.String())
	b.WriteString(": ")
	if m.Code != "" {
		b.WriteString("(" + m.Code + ") ")
	}
	b.WriteString(m.Text)
	return b.String()
}

// Diagnostic returns m as a finding about the named file. The rule is the code of the message, or
// "ptxas" if the message has no code.
func (m Message) Diagnostic(name string) diag.Diagnostic {
	d := diag.Diagnostic{Place: diag.Place{File: name, Line: m.Line}, Rule: "ptxas",
		Message: m.Text}
	if m.Code != "" {
		d.Rule = m.Code
	}
	switch m.Level {
	case Info:
		d.Severity = diag.Note
	case Warning:
		d.Severity = diag.Warning
	default:
		d.Severity = diag.Error
	}
	return d
}

var (
	messageLine = regexp.MustCompile(
		`^ptxas (?:(.+), line (\d+); )?(info|warning|error|fatal)\s*: (.*)$`)
	messageCode = regexp.MustCompile(`^\(([A-Z]\d+)\) `)
)

// abortText is the last line of every run with errors; it has no information.
const abortText = "Ptx assembly aborted due to errors"

// parseMessages parses the output of ptxas. An indented line belongs to the message before it, as
// in the output of -v.
func parseMessages(output string) []Message {
	var list []Message
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		part := messageLine.FindStringSubmatch(line)
		if part == nil {
			if len(list) > 0 && strings.HasPrefix(line, " ") {
				list[len(list)-1].Text += "\n" + strings.TrimSpace(line)
			}
			continue
		}
		m := Message{File: part[1], Text: part[4]}
		m.Line, _ = strconv.Atoi(part[2])
		switch part[3] {
		case "warning":
			m.Level = Warning
		case "error":
			m.Level = Error
		case "fatal":
			m.Level = Fatal
		}
		if code := messageCode.FindStringSubmatch(m.Text); code != nil {
			m.Code = code[1]
			m.Text = m.Text[len(code[0]):]
		}
		if m.Line == 0 && m.Text == abortText {
			continue
		}
		list = append(list, m)
	}
	return list
}

// worst returns the highest level of the messages in list, or Info if list is empty.
func worst(list []Message) Level {
	w := Info
	for _, m := range list {
		w = max(w, m.Level)
	}
	return w
}

// Diagnostics returns messages as sorted findings about a file.
func Diagnostics(list []Message, name string) diag.List {
	var l diag.List
	for _, m := range list {
		l = append(l, m.Diagnostic(name))
	}
	return l.Sort()
}
