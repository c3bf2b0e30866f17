package kafka

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// journal logs to stderr, and notes each record that was written in a file, which a process that is killed leaves
// behind.
type journal struct {
	slog.Handler
	file *os.File
}

func newJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{slog.NewTextHandler(os.Stderr, nil), file}, nil
}

// Enabled implements [slog.Handler].
func (j *journal) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (j *journal) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != written {
		return j.Handler.Handle(ctx, r)
	}
	var line strings.Builder
	r.Attrs(func(a slog.Attr) bool {
		line.WriteString(a.Value.String() + " ")
		return true
	})
	_, err := j.file.WriteString(line.String() + "\n")
	return err
}

// note is a line of a journal: a record.
type note struct {
	partition string
	offset    int64
}

func readJournal(t *testing.T, path string) (all []note) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var n note
		if _, err := fmt.Sscanf(lines.Text(), "%s %d", &n.partition, &n.offset); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, n)
	}
	return all
}

// awaitGrowth waits until a process has written some records more.
func awaitGrowth(t *testing.T, path string) {
	t.Helper()
	const some = 1000 // bytes: a hundred records
	var begun int64 = -1
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(5 * time.Millisecond) {
		info, err := os.Stat(path)
		if err == nil && begun < 0 {
			begun = info.Size()
		}
		if err == nil && info.Size() >= begun+some {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the process has got no partition, or writes nothing: give more records: %v", err)
		}
	}
}
