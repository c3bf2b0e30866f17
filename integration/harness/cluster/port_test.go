package cluster

import (
	"strings"
	"testing"
)

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
	err := heldError("127.0.0.1", 9042, 77, command)
	for _, want := range []string{"node that this harness started", "pid 77", "/home/a b/.cache/denorm go run", "kill -9 77"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: lacks %q", err, want)
		}
	}
	if err := heldError("127.0.0.1", 9042, 0, ""); !strings.Contains(err.Error(), "lsof") {
		t.Errorf("unknown holder: %v", err)
	}
}
