// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package doctest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// Import paths of the tutorial's code: in this repository, and in the reader's module.
const (
	repositoryPath = "github.com/ptxdsl/ptxdsl/docs/tutorial/code/"
	readerPath     = "example.com/kernels/"
)

// listing returns a Go file as the reader of the tutorial writes it: without the licence, and
// with the import paths of the reader's module.
func listing(text string) string {
	for strings.HasPrefix(text, "//") {
		_, text, _ = strings.Cut(text, "\n")
		if rest, ok := strings.CutPrefix(text, "\n"); ok {
			text = rest
			break
		}
	}
	return strings.ReplaceAll(text, repositoryPath, readerPath)
}

// declaration returns a top-level declaration of a Go file, with its comment. The name has the
// form NAME or TYPE.METHOD.
func declaration(text, name string) (string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "source.go", text, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range file.Decls {
		if !isDeclarationOf(d, name) {
			continue
		}
		from := d.Pos()
		if doc := docOf(d); doc != nil {
			from = doc.Pos()
		}
		return text[fset.Position(from).Offset:fset.Position(d.End()).Offset] + "\n", nil
	}
	return "", fmt.Errorf("no declaration of %s", name)
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

func isDeclarationOf(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		full := d.Name.Name
		if d.Recv != nil {
			typ := d.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if id, ok := typ.(*ast.Ident); ok {
				full = id.Name + "." + full
			}
		}
		return full == name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.Name == name {
					return true
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.Name == name {
						return true
					}
				}
			}
		}
	}
	return false
}

// isExcerpt reports whether the lines of part are consecutive lines of text. Indentation is
// ignored.
func isExcerpt(text, part string) bool {
	return strings.Contains(unindent(text), unindent(part))
}

// unindent removes the white space around each line.
func unindent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

// table returns the rows of a CUDA-to-Go table from the //cuda: comments of a Go file. Such a
// comment contains the CUDA code; a //cuda:text comment describes it in words. The Go code is the
// statements that follow, up to the next empty line, comment or closing brace.
func table(text string) string {
	var b strings.Builder
	b.WriteString("| CUDA or PTX | Go |\n|---|---|\n")
	var cuda string
	var code []string
	flush := func() {
		if cuda != "" && len(code) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", cuda, cells(code))
		}
		cuda, code = "", nil
	}
	indent := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		lead := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
		switch {
		case strings.HasPrefix(trimmed, "//cuda: "):
			flush()
			cuda, indent = cell(strings.TrimPrefix(trimmed, "//cuda: ")), lead
		case strings.HasPrefix(trimmed, "//cuda:text "):
			flush()
			cuda, indent = strings.TrimPrefix(trimmed, "//cuda:text "), lead
		case trimmed == "" || len(lead) < len(indent):
			flush()
		case cuda != "" && !strings.HasPrefix(trimmed, "//"):
			code = append(code, strings.TrimRight(strings.TrimPrefix(line, indent), "\n"))
		}
	}
	flush()
	return b.String()
}

// cell formats text as code in a table cell. Text that contains backquotes is returned as it is.
func cell(s string) string {
	s = strings.ReplaceAll(s, "|", `\|`)
	if strings.Contains(s, "`") {
		return s
	}
	return "`" + s + "`"
}

// cells formats lines of Go as code in a table cell.
func cells(lines []string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, "\t")
		tabs := len(line) - len(trimmed)
		out[i] = strings.Repeat("&emsp;", tabs) + "`" + strings.ReplaceAll(trimmed, "|", `\|`) + "`"
	}
	return strings.Join(out, "<br>")
}

// linkTarget returns the file and the anchor to which a link on a page refers.
func linkTarget(page, link string) (file, anchor string) {
	file, anchor, _ = strings.Cut(link, "#")
	if file == "" {
		return page, anchor
	}
	return path.Join(path.Dir(page), file), anchor
}
