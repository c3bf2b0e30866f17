package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// plot draws what was measured of each contender as a bar, with the range over the rounds.
func plot(title, format string, results []created, of func(created) figure) string {
	const left, width, row = 300, 520, 34
	most := 0.0
	for _, x := range results {
		most = max(most, slices.Max(of(x)))
	}
	scale := width / most
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">`,
		left+width+80, row*len(results)+50)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>`)
	fmt.Fprintf(&b, `<text x="%d" y="20">createOrder: %s (bar: median; line: range over rounds)</text>`, 10, title)
	for i, x := range results {
		y := 36 + row*i
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-10, y+16, html.EscapeString(x.name))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="20" fill="#4a7ab5"/>`, left, y+2, of(x).median()*scale)
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="black"/>`, left+slices.Min(of(x))*scale, y+12,
			left+slices.Max(of(x))*scale, y+12)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`, left+slices.Max(of(x))*scale+6, y+16, fmt.Sprintf(format, of(x).median()))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
