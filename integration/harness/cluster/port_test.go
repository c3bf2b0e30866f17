package cluster

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestListeners(t *testing.T) {
	t.Parallel()
	tcp, err := os.ReadFile("testdata/tcp")
	if err != nil {
		t.Fatal(err)
	}
	tcp6, err := os.ReadFile("testdata/tcp6")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		table []byte
		ip    string
		port  int
		want  []string
	}{
		{"this address", tcp, "127.0.0.1", 9042, []string{"1001"}},
		{"another address of the same port", tcp, "127.0.0.2", 9042, []string{"1002"}},
		{"all addresses", tcp, "127.0.0.3", 7000, []string{"1003"}},
		{"connections do not listen", tcp, "127.0.0.1", 4242, nil},
		{"nobody", tcp, "127.0.0.1", 1, nil},
		{"all addresses, IPv6", tcp6, "127.0.0.1", 8080, []string{"2001"}},
		{"a mapped address", tcp6, "127.0.0.2", 9042, []string{"2002"}},
		{"an address of IPv6 only", tcp6, "127.0.0.1", 25, nil},
	}
	for _, test := range tests {
		if got := listeners(string(test.table), netip.MustParseAddr(test.ip), test.port); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestParseSocketRefuses(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"", "0100007F", "0100007F:", "0100007F:23522", "0100:2352", "xx:2352", "01:2352"} {
		if got, err := parseSocket(field); err == nil {
			t.Errorf("parseSocket(%q) = %v", field, got)
		}
	}
}

func FuzzListeners(f *testing.F) {
	f.Add("  0: 0100007F:2352 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1001 1 x\n")
	f.Fuzz(func(_ *testing.T, table string) {
		listeners(table, netip.MustParseAddr("127.0.0.1"), cqlPort) // must not panic
	})
}

func TestMissingAddressNamesItsCure(t *testing.T) {
	t.Parallel()
	err := checkAddress(t.Context(), "192.0.2.1", cqlPort) // reserved for documentation: nobody has it
	if err == nil || !strings.Contains(err.Error(), "ifconfig lo0 alias 192.0.2.1") {
		t.Errorf("checkAddress: %v", err)
	}
}

func TestLeftoverNodeIsRecognised(t *testing.T) {
	t.Parallel()
	command := "/usr/bin/java -Ddenorm.home=/home/a b/.cache/denorm -Xms512M org.apache.cassandra.service.CassandraDaemon"
	err := heldError("127.0.0.1", 9042, []holder{{pid: 77, command: command}})
	for _, want := range []string{"node that this harness started", "pid 77", "/home/a b/.cache/denorm go run", "kill -9 77"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: lacks %q", err, want)
		}
	}
	if err := heldError("127.0.0.1", 9042, nil); !strings.Contains(err.Error(), "lsof") {
		t.Errorf("unknown holder: %v", err)
	}
}
