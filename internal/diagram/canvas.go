// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"fmt"
	"html"
	"strings"
)

// A canvas collects the elements of an SVG image.
type canvas struct {
	width, height int
	body          strings.Builder
}

func newCanvas(width, height int, title string) *canvas {
	c := &canvas{width: width, height: height}
	fmt.Fprintf(&c.body, "<title>%s</title>\n", html.EscapeString(title))
	c.rect(0, 0, width, height, "#ffffff", "none")
	return c
}

// svg returns the image.
func (c *canvas) svg() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" `+
		`width="%[1]d" height="%[2]d" font-family="Helvetica, Arial, sans-serif">`+
		"\n%[3]s</svg>\n",
		c.width, c.height, c.body.String())
}

func (c *canvas) rect(x, y, width, height int, fill, stroke string) {
	fmt.Fprintf(&c.body,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"%s\"/>\n",
		x, y, width, height, fill, stroke)
}

// frame draws a rectangle with a thick border and no fill.
func (c *canvas) frame(x, y, width, height int, stroke string) {
	fmt.Fprintf(&c.body, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="%s" `+
		`stroke-width="3"/>`+"\n", x, y, width, height, stroke)
}

// text draws text at a point. anchor is start, middle or end.
func (c *canvas) text(x, y, size int, anchor, s string) {
	fmt.Fprintf(&c.body,
		"<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" fill=\"#1a1a1a\">%s</text>\n",
		x, y, size, anchor, html.EscapeString(s))
}

// box draws a rectangle with centered lines of text.
func (c *canvas) box(x, y, width, height int, fill string, size int, lines ...string) {
	c.rect(x, y, width, height, fill, "#444444")
	top := y + height/2 - (len(lines)-1)*(size+4)/2 + size*2/5
	for i, s := range lines {
		c.text(x+width/2, top+i*(size+4), size, "middle", s)
	}
}

// arrow draws a line with an arrowhead at its end.
func (c *canvas) arrow(x1, y1, x2, y2 int, color string) {
	fmt.Fprintf(&c.body,
		"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"/>\n", x1,
		y1,
		x2, y2, color)
	dx, dy := sign(x2-x1), sign(y2-y1)
	if abs(x2-x1) > abs(y2-y1) {
		dy = 0
	} else {
		dx = 0
	}
	fmt.Fprintf(&c.body, "<polygon points=\"%d,%d %d,%d %d,%d\" fill=\"%s\"/>\n",
		x2, y2, x2-9*dx+5*dy, y2-9*dy+5*dx, x2-9*dx-5*dy, y2-9*dy-5*dx, color)
}

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

func abs(n int) int { return n * sign(n) }

// hue returns the i-th of eight light colors.
func hue(i int) string {
	return [8]string{"#cfe2f3", "#fde0c5", "#d5ecd4", "#f6cfd3", "#e2d6ee", "#e8dccf", "#f7d9ec",
		"#f4f1bf"}[i&7]
}
