package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// plot draws what was measured of each contender as a bar, with the range over the rounds.
func plot(title, format string, list []*contender, of func(*measured) figure) string {
	const left, width, row = 340, 520, 34
	most := 0.0
	for _, x := range list {
		most = max(most, slices.Max(of(&x.figures)))
	}
	scale := width / most
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">`,
		left+width+80, row*len(list)+50)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>`)
	fmt.Fprintf(&b, `<text x="%d" y="20">%s (bar: median; line: range over rounds)</text>`, 10, html.EscapeString(title))
	for i, x := range list {
		y, f := 36+row*i, of(&x.figures)
		low, high := slices.Min(f)*scale, slices.Max(f)*scale
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-10, y+16, html.EscapeString(x.name))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="20" fill="#4a7ab5"/>`, left, y+2, f.median()*scale)
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="black"/>`, left+low, y+12, left+high, y+12)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`, left+high+6, y+16, fmt.Sprintf(format, f.median()))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
