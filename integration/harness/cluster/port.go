package cluster

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// checkAddresses makes sure that nothing listens where the nodes will. A node that finds its port held says so on page
// three of its log and dies; the developer is told here, with the name of the holder.
func checkAddresses(ctx context.Context, nodes int) error {
	for n := 1; n <= nodes; n++ {
		for _, port := range []int{cqlPort, storagePort} {
			if err := checkAddress(ctx, loopback(n), port); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkAddress(ctx context.Context, ip string, port int) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort(ip, strconv.Itoa(port)))
	switch {
	case err == nil:
		return listener.Close()
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("this machine has no address %s: sudo ifconfig lo0 alias %s", ip, ip)
	case errors.Is(err, syscall.EADDRINUSE):
		return heldError(ip, port, holders(ip, port))
	default:
		return fmt.Errorf("port %d on %s: %w", port, ip, err)
	}
}

// holder is a process that listens on a port.
type holder struct {
	pid     int
	command string
}

func heldError(ip string, port int, holders []holder) error {
	where := fmt.Sprintf("port %d on %s is held", port, ip)
	if len(holders) == 0 {
		return fmt.Errorf("%s by a process that this user cannot see: "+
			"sudo lsof -nP -iTCP:%d -sTCP:LISTEN names it; stop it, or set %s if it is your Cassandra", where, port, ExternalEnv)
	}
	h := holders[0]
	if home, ok := markedHome(h.command); ok {
		return fmt.Errorf("%s by a node that this harness started for the directory %s, pid %d: "+
			"%s=%[2]s go run ./cmd/cluster down, or, if that knows nothing of it, kill -9 %[3]d", where, home, h.pid, HomeEnv)
	}
	return fmt.Errorf("%s by pid %d (%s): stop it (kill %d), or set %s if it is your Cassandra",
		where, h.pid, shorten(h.command, 160), h.pid, ExternalEnv)
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

// holders finds the processes that listen on an address, as far as /proc shows them to this user.
func holders(ip string, port int) []holder {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return nil
	}
	var inodes []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		inodes = append(inodes, listeners(string(data), addr, port)...)
	}
	return owners(inodes)
}

// listeners returns the inodes of the sockets in a table like /proc/net/tcp that listen on the address, or on all
// addresses.
func listeners(table string, ip netip.Addr, port int) []string {
	const listening = "0A"
	var inodes []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[3] != listening {
			continue
		}
		local, err := parseSocket(fields[1])
		if err != nil || int(local.Port()) != port {
			continue
		}
		if local.Addr().IsUnspecified() || local.Addr() == ip {
			inodes = append(inodes, fields[9])
		}
	}
	return inodes
}

// parseSocket reads an address as /proc/net/tcp writes it: the bytes of each 32 bit word in the machine's order, which
// is little endian wherever this runs.
func parseSocket(field string) (netip.AddrPort, error) {
	host, port, ok := strings.Cut(field, ":")
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("not an address: %q", field)
	}
	raw, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("not an address: %q: %w", field, err)
	}
	if len(raw)%4 != 0 {
		return netip.AddrPort{}, fmt.Errorf("not an address: %q", field)
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("not an address: %q", field)
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("not a port: %q: %w", field, err)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
}

// owners finds the processes that have one of the sockets open.
func owners(inodes []string) []holder {
	if len(inodes) == 0 {
		return nil
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	var found []holder
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			continue // the process or its file has gone meanwhile, or is another user's
		}
		inode, ok := strings.CutPrefix(target, "socket:[")
		if !ok || !slices.Contains(inodes, strings.TrimSuffix(inode, "]")) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err != nil || slices.ContainsFunc(found, func(h holder) bool { return h.pid == pid }) {
			continue
		}
		found = append(found, holder{pid: pid, command: commandLine(pid)})
	}
	return found
}

func commandLine(pid int) string {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if errors.Is(err, fs.ErrNotExist) || len(data) == 0 {
		return "gone meanwhile"
	}
	return strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
}
