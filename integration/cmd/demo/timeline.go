package main

import (
	"strings"
	"time"
)

// timeline places moments between begin and end on a number of columns.
type timeline struct {
	begin, end time.Time
	width      int
}

// column of a moment, from 0 to width-1.
func (l timeline) column(at time.Time) int {
	whole := max(l.end.Sub(l.begin), 1)
	return max(0, min(int(at.Sub(l.begin)*time.Duration(l.width)/whole), l.width-1))
}

// bar is as long as what it stands for took, at least one column.
func (l timeline) bar(from, to time.Time) string {
	first, last := l.column(from), l.column(to)
	return strings.Repeat(" ", first) + strings.Repeat("█", last-first+1)
}

// mark stands for a moment.
func (l timeline) mark(at time.Time) string { return strings.Repeat(" ", l.column(at)) + "▲" }
