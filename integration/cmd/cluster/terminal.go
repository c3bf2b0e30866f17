package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// inForeground reports whether this process belongs to the foreground group of its terminal, which is the group that
// Ctrl-C goes to.
func inForeground() bool {
	group, err := terminalGroup()
	return err == nil && group == syscall.Getpgrp()
}

// terminalGroup asks /proc or ps rather than the terminal, as the standard library has no call for that.
func terminalGroup() (int, error) {
	if data, err := os.ReadFile("/proc/self/stat"); err == nil {
		return parseTerminalGroup(string(data))
	}
	out, err := exec.Command("ps", "-o", "tpgid=", "-p", strconv.Itoa(os.Getpid())).Output()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// parseTerminalGroup reads a line of /proc/PID/stat.
func parseTerminalGroup(stat string) (int, error) {
	const groupField = 8 - 3 // counted from the state letter, which is the third
	fields, err := cluster.StatFields(stat, groupField)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(fields[groupField])
}
