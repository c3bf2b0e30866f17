package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// question is answered by a table, and by a plot of its first column.
type question struct {
	title   string
	plot    string // the end of its file's name
	columns []column
}

// column is a figure of all contenders.
type column struct {
	name, format string
	of           func(*measured) figure
}

// section is contenders that are compared, and what is asked of them.
type section struct {
	list      []*contender
	bases     []string // with which they are compared
	questions []question
}

// answer gives the sections as text, and their plots, of which the files begin with name.
func answer(name string, sections []section) (text string, plots map[string]string) {
	var b strings.Builder
	plots = map[string]string{}
	for _, s := range sections {
		if len(s.list) == 0 { // -only
			continue
		}
		for _, q := range s.questions {
			file := name + "-" + q.plot + ".svg"
			first := q.columns[0]
			plots[file] = plot(q.title+" "+first.name, first.format, s.list, first.of)
			fmt.Fprintf(&b, "## %s\n\n%s%s\n![%s](%s)\n\n", q.title, s.compared(), s.table(q.columns), first.name, file)
		}
	}
	return b.String(), plots
}

// table has a line for each contender. A cell is a median, its range, and how many times each base it is.
func (s section) table(columns []column) string {
	var b strings.Builder
	line := func(first string, cell func(column) string) {
		b.WriteString("| " + first + " |")
		for _, c := range columns {
			b.WriteString(" " + cell(c) + " |")
		}
		b.WriteString("\n")
	}
	line("", func(c column) string { return c.name })
	line("---", func(column) string { return "---" })
	for _, x := range s.list {
		line(x.name, func(c column) string {
			own := c.of(&x.figures)
			cell := []string{own.cell(c.format)}
			for _, base := range s.bases {
				if i := slices.IndexFunc(s.list, func(x *contender) bool { return x.name == base }); i >= 0 {
					cell = append(cell, fmt.Sprintf("%.2f x", own.times(c.of(&s.list[i].figures))))
				}
			}
			return strings.Join(cell, ", ")
		})
	}
	return b.String()
}

// compared says what the cells are compared with.
func (s section) compared() string {
	names := slices.DeleteFunc(slices.Clone(s.bases), func(base string) bool {
		return !slices.ContainsFunc(s.list, func(x *contender) bool { return x.name == base })
	})
	if len(names) == 0 {
		return ""
	}
	return "Compared with “" + strings.Join(names, "”, and then with “") + "”.\n\n"
}

// method says how the figures were made.
func (c *contest) method(p *place) string {
	return fmt.Sprintf(`LOCAL_QUORUM on %d real Cassandra nodes on this machine, each row on %d of them; %d rounds. In each the contenders
take %d turns in random order, after a round that is not counted; a turn is %d writes with 1 at a time, %d with 16 and %d with 64. A cell has the
median of the rounds, in brackets the smallest and the largest, then two ratios, to the two lines named above the table: each is the median of
the ratios within a round. Client and servers share %d cores: compare the lines with each other, not with another run; with many writes at a time latencies are mostly
waiting. CPU time of the servers is that of all nodes together, with all that they do meanwhile. Requests are counted by their answers.
What a write leaves to be done after the answer to the caller is in all figures but the latency.
`, p.hosts, p.replicas, c.rounds, c.turns, c.alone, c.many, c.many, runtime.NumCPU())
}

// The figures that are asked for.
func latencies() []column {
	var all []column
	for k, n := range atATime {
		all = append(all,
			column{fmt.Sprintf("p50, %d at a time, ms", n), "%.2f", func(m *measured) figure { return m.p50[k] }},
			column{fmt.Sprintf("p99, %d at a time, ms", n), "%.1f", func(m *measured) figure { return m.p99[k] }})
	}
	return all
}

// many gives columns of a figure with 64 and with 16 at a time.
func many(name, format string, of func(m *measured, k int) figure) []column {
	var all []column
	for k := len(atATime) - 1; k > 0; k-- {
		all = append(all, column{
			strings.Replace(name, "N", strconv.Itoa(atATime[k]), 1), format, func(m *measured) figure { return of(m, k) },
		})
	}
	return all
}

var (
	clientCPU   = many("client CPU a write, N at a time, µs", "%.0f", func(m *measured, k int) figure { return m.cpu[k] })
	serversCPU  = many("servers' CPU a write, N at a time, µs", "%.0f", func(m *measured, k int) figure { return m.server[k] })
	perSecond   = many("writes a second, N at a time", "%.0f", func(m *measured, k int) figure { return m.perSecond[k] })
	allocations = many("allocations a write, N at a time", "%.0f", func(m *measured, k int) figure { return m.allocations[k] })
	requests    = many("requests a write, N at a time", "%.2f", func(m *measured, k int) figure { return m.requests[k] })
)
