//go:build faults

package tutorial_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// cqlshEnv makes the test binary a cqlsh.
const cqlshEnv = "TUTORIAL_CQLSH"

// installCqlsh returns a folder with a cqlsh, which needs no Python.
func installCqlsh(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", cqlshEnv, self)
		err = os.WriteFile(filepath.Join(dir, "cqlsh"), []byte(script), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// cqlsh returns the exit code of cqlsh -e.
func cqlsh(args []string) int {
	text, err := execute(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Print(text)
	return 0
}

func execute(args []string) (string, error) {
	if len(args) != 2 || args[0] != "-e" {
		return "", errors.New("usage: cqlsh -e statement")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	node, err := cluster.OpenProbe(ctx, "127.0.0.1")
	if err != nil {
		return "", err
	}
	defer node.Close()
	rows := node.Session.Query(args[1]).WithContext(ctx).Iter()
	var table [][]string
	for _, c := range rows.Columns() {
		table = append(table, []string{c.Name})
	}
	for row := make(map[string]any); rows.MapScan(row); row = make(map[string]any) {
		for i, c := range rows.Columns() {
			table[i] = append(table[i], fmt.Sprint(row[c.Name]))
		}
	}
	if err := rows.Close(); err != nil || table == nil {
		return "", err
	}
	return show(table), nil
}

// show shows columns as cqlsh does.
func show(table [][]string) string {
	lines := make([]string, len(table[0])+1)
	for i, column := range table {
		width, between, cross := 0, " | ", "-+-"
		for _, value := range column {
			width = max(width, len(value))
		}
		if i == 0 {
			between, cross = " ", "-"
		}
		lines[0] += between + fmt.Sprintf("%-*s", width, column[0])
		lines[1] += cross + strings.Repeat("-", width)
		for j, value := range column[1:] {
			lines[j+2] += between + fmt.Sprintf("%*s", width, value)
		}
	}
	lines[1] += "-"
	return fmt.Sprintf("\n%s\n\n(%d rows)\n", strings.Join(lines, "\n"), len(table[0])-1)
}
