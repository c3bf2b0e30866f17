package cluster

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/mem"
)

// nodeMemory is what a local node takes with its 512 MB heap: 850 MB were measured.
const nodeMemory = 900 << 20

// checkMemory rejects to start nodes that the kernel would kill later, in the middle of a test.
func checkMemory(nodes int) error {
	available, known := availableMemory()
	return compareMemory(nodes, available, known)
}

func compareMemory(nodes int, available int64, known bool) error {
	need := int64(nodes) * nodeMemory
	if !known || available >= need {
		return nil
	}
	return fmt.Errorf("%d node(s) need %d MB of memory, %d MB are free: "+
		"close something, use fewer nodes (-nodes 1), or set %s to a cluster elsewhere",
		nodes, need>>20, available>>20, ExternalEnv)
}

// availableMemory is the smaller of what the machine and what the container has left, where the kernel tells.
func availableMemory() (available int64, known bool) {
	if machine, err := mem.VirtualMemory(); err == nil {
		available, known = int64(machine.Available), true
	}
	const group = "/sys/fs/cgroup/memory."
	limit, err1 := os.ReadFile(group + "max")
	current, err2 := os.ReadFile(group + "current")
	stat, err3 := os.ReadFile(group + "stat")
	if err1 != nil || err2 != nil || err3 != nil {
		return available, known
	}
	if left, ok := parseCgroup(string(limit), string(current), string(stat)); ok && (!known || left < available) {
		return left, true
	}
	return available, known
}

// parseCgroup returns what a control group has left. The inactive part of its file cache can be given back.
func parseCgroup(limit, current, stat string) (left int64, ok bool) {
	most, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64) // "max" if there is no limit
	if err != nil {
		return 0, false
	}
	used, err := strconv.ParseInt(strings.TrimSpace(current), 10, 64)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(stat) {
		if rest, found := strings.CutPrefix(line, "inactive_file "); found {
			cache, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			if err != nil {
				return 0, false
			}
			used -= cache
		}
	}
	return most - used, true
}
