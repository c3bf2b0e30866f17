package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// LogMark is a place in the log of each node, from [MarkLogs].
type LogMark struct {
	home  string
	s     *state
	ends  []int         // how long the log of a node was
	files []os.FileInfo // which file it was; nil of containers
}

// MarkLogs notes where the log of each node ends. The nodes are those of docker compose or processes of this machine;
// the logs of a cluster of one's own are not to be had, and there the test fails.
func MarkLogs(tb testing.TB) *LogMark {
	tb.Helper()
	m, err := markLogs(tb.Context(), Hosts(tb))
	must(tb, err, "logs of the nodes")
	return m
}

func markLogs(ctx context.Context, hosts []string) (*LogMark, error) {
	h, s, err := harnessOf(hosts)
	if err != nil {
		return nil, err
	}
	m := &LogMark{home: h.home, s: s}
	for number := 1; number <= s.Nodes; number++ {
		text, file, err := m.read(ctx, number)
		if err != nil {
			return nil, err
		}
		m.ends, m.files = append(m.ends, len(text)), append(m.files, file)
	}
	return m, nil
}

// read returns the log of a node, counted from 1, and of a local one its file.
func (m *LogMark) read(ctx context.Context, number int) (string, os.FileInfo, error) {
	if m.s.Mode == Local {
		log, err := os.Open(filepath.Join(localNode{home: m.home, number: number}.dir(), "log", "system.log"))
		if err != nil {
			return "", nil, err
		}
		defer log.Close() //nolint:errcheck // it is read
		text, err := io.ReadAll(log)
		if err != nil {
			return "", nil, err
		}
		file, err := log.Stat()
		return string(text), file, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := composeCommand(ctx, m.s, "logs", "--no-color", "--no-log-prefix", composeServices(number)[number-1])
	out, err := cmd.Output() // without the warnings of docker compose, which are on standard error
	if err != nil {
		return "", nil, fmt.Errorf("docker compose logs: %w", err)
	}
	return string(out), nil, nil
}

// Warnings returns what the nodes have logged since at level WARN or ERROR, node by node, an entry each: its lines, as
// an exception has many.
func (m *LogMark) Warnings(tb testing.TB) [][]string {
	tb.Helper()
	found := make([][]string, len(m.ends))
	for i := range found {
		text, err := m.since(tb.Context(), i+1)
		must(tb, err, "log of node %d", i+1)
		found[i] = warnings(text)
	}
	return found
}

// since is what a node, counted from 1, has logged since the mark.
func (m *LogMark) since(ctx context.Context, number int) (string, error) {
	text, file, err := m.read(ctx, number)
	if err != nil {
		return "", err
	}
	end, was := m.ends[number-1], m.files[number-1]
	switch {
	case len(text) < end:
		return "", errors.New("it is shorter than it was: a local log was full, or the container was made again")
	case was != nil && !os.SameFile(was, file):
		return "", errors.New("it is another file than it was: a local log was full")
	}
	return text[end:], nil
}

// entryBegins is how a line begins that is not the continuation of another.
var entryBegins = regexp.MustCompile(`^(TRACE|DEBUG|INFO|WARN|ERROR) +\[`)

func warnings(text string) (entries []string) {
	wanted := false
	for line := range strings.Lines(text) {
		switch begins := entryBegins.FindStringSubmatch(line); {
		case begins != nil:
			if wanted = begins[1] == "WARN" || begins[1] == "ERROR"; wanted {
				entries = append(entries, line)
			}
		case wanted:
			entries[len(entries)-1] += line
		}
	}
	return entries
}
