package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// LogMark is a place in the log of each node, from [MarkLogs].
type LogMark struct {
	home string
	s    *state
	ends []logEnd
}

// logEnd is how long the log of a node was, and which file it was.
type logEnd struct {
	bytes int64
	file  fs.FileInfo // nil of a container
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
	m := &LogMark{home: h.home, s: s, ends: make([]logEnd, s.Nodes)}
	for i := range m.ends {
		if m.ends[i], err = m.end(ctx, i); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *LogMark) path(i int) string {
	return filepath.Join(localNode{home: m.home, number: i + 1}.dir(), "log", "system.log")
}

func (m *LogMark) end(ctx context.Context, i int) (logEnd, error) {
	if m.s.Mode == Compose {
		text, err := m.container(ctx, i)
		return logEnd{bytes: int64(len(text))}, err
	}
	info, err := os.Stat(m.path(i))
	if err != nil {
		return logEnd{}, err
	}
	return logEnd{info.Size(), info}, nil
}

// container is all that a node of docker compose has logged.
func (m *LogMark) container(ctx context.Context, i int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := composeCommand(ctx, m.s, "logs", "--no-color", "--no-log-prefix", composeServices(m.s.Nodes)[i])
	out, err := cmd.Output() // without the warnings of docker compose, which are on standard error
	if err != nil {
		return "", fmt.Errorf("docker compose logs: %w", err)
	}
	return string(out), nil
}

// Warnings returns what the nodes have logged since at level WARN or ERROR, node by node, an entry each: its lines, as
// an exception has many.
func (m *LogMark) Warnings(tb testing.TB) [][]string {
	tb.Helper()
	found := make([][]string, len(m.ends))
	for i := range found {
		text, err := m.since(tb.Context(), i)
		must(tb, err, "log of node %d", i+1)
		found[i] = warnings(text)
	}
	return found
}

// since is what a node has logged since the mark.
func (m *LogMark) since(ctx context.Context, i int) (string, error) {
	end := m.ends[i]
	if m.s.Mode == Compose {
		text, err := m.container(ctx, i)
		if err == nil && int64(len(text)) < end.bytes {
			err = errors.New("it is shorter than it was: the container was made again")
		}
		if err != nil {
			return "", err
		}
		return text[end.bytes:], nil
	}
	text, same, err := tail(m.path(i), end)
	if err != nil || same {
		return text, err
	}
	before, same, err := tail(m.path(i)+".1", end) // a log that is full is renamed
	if err == nil && !same {
		err = errors.New("it was full more than once since the mark")
	}
	return before + text, err
}

// tail reads a file from the mark, or from its beginning if the mark is in another.
func tail(path string, end logEnd) (text string, same bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", false, err
	}
	if same = os.SameFile(info, end.file); same {
		if _, err := f.Seek(end.bytes, io.SeekStart); err != nil {
			return "", false, err
		}
	}
	data, err := io.ReadAll(f)
	return string(data), same, err
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
