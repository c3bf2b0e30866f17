package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/shirou/gopsutil/v4/mem"
	netstat "github.com/shirou/gopsutil/v4/net"
	ps "github.com/shirou/gopsutil/v4/process"
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
	var most, used, cache int64
	_, cached, found := strings.Cut("\n"+stat, "\ninactive_file ")
	if !found {
		cached = "0"
	}
	_, err := fmt.Sscan(limit+" "+current+" "+cached, &most, &used, &cache) // the limit is "max" if there is none
	if err != nil {
		return 0, false
	}
	return most - used + cache, true
}

// checkAddress makes sure that nothing listens where a node will. A node that finds its port held says so on page
// three of its log and dies; the developer is told here, with the name of the holder.
func checkAddress(ctx context.Context, ip string, port int) error {
	err := bind(ctx, ip, port)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("this machine has no address %s: sudo ifconfig lo0 alias %s", ip, ip)
	case errors.Is(err, syscall.EADDRINUSE):
		pid, command := holder(ctx, ip, port)
		return heldError(ip, port, pid, command)
	default:
		return fmt.Errorf("port %d on %s: %w", port, ip, err)
	}
}

// bind tries whether a process can listen there.
func bind(ctx context.Context, ip string, port int) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return listener.Close()
}

// heldError names the process that holds a port. Its pid is 0 if this user cannot see it.
func heldError(ip string, port int, pid int32, command string) error {
	where := fmt.Sprintf("port %d on %s is held", port, ip)
	if pid == 0 {
		return fmt.Errorf("%s by a process that this user cannot see: "+
			"sudo lsof -nP -iTCP:%d -sTCP:LISTEN names it; stop it, or set %s if it is your Cassandra", where, port, ExternalEnv)
	}
	if home, ok := markedHome(command); ok {
		return fmt.Errorf("%s by a node that this harness started for the directory %s, pid %d: "+
			"%s=%[2]s go run ./cmd/cluster down, or, if that knows nothing of it, kill -9 %[3]d", where, home, pid, HomeEnv)
	}
	return fmt.Errorf("%s by pid %d (%s): stop it (kill %d), or set %s if it is your Cassandra",
		where, pid, shorten(command, 160), pid, ExternalEnv)
}

// markedHome finds the mark that the harness puts on the command line of its nodes.
func markedHome(command string) (string, bool) {
	_, rest, ok := strings.Cut(command, homeMark)
	if !ok {
		return "", false
	}
	home, _, _ := strings.Cut(rest, " -")
	return home, true
}

func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}

// holder finds the process that listens on an address, as far as this user may see it.
func holder(ctx context.Context, ip string, port int) (pid int32, command string) {
	connections, _ := netstat.ConnectionsWithContext(ctx, "tcp")
	for _, c := range connections {
		local := net.ParseIP(c.Laddr.IP)
		if c.Status == "LISTEN" && int(c.Laddr.Port) == port && c.Pid != 0 && (local.IsUnspecified() || local.Equal(net.ParseIP(ip))) {
			command, _ = (&ps.Process{Pid: c.Pid}).CmdlineWithContext(ctx) // none if it is gone
			return c.Pid, command
		}
	}
	return 0, ""
}
