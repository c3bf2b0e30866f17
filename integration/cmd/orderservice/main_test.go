package main

import (
	"fmt"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"defaults": {nil, nil, "[127.0.0.1] orders  127.0.0.1:8080"},
		"environment": {
			nil,
			map[string]string{"CASSANDRA_HOSTS": "a:1,b", "ORDERS_KEYSPACE": "k", "ORDERS_LOCAL_DC": "dc1", "ORDERS_LISTEN": ":1"},
			"[a:1 b] k dc1 :1",
		},
		"a cluster for tests": {nil, map[string]string{"DENORM_TEST_HOSTS": "a,b"}, "[a b] orders  127.0.0.1:8080"},
		"flags win":           {[]string{"-keyspace", "f", "-hosts", "c"}, map[string]string{"ORDERS_KEYSPACE": "k"}, "[c] f  127.0.0.1:8080"},
	} {
		s, err := parse(test.args, func(name string) string { return test.env[name] })
		got := fmt.Sprintf("%v %s %s %s", s.database.Hosts, s.database.Keyspace, s.database.LocalDC, s.listen)
		if err != nil || got != test.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, test.want)
		}
	}
	if _, err := parse([]string{"serve"}, func(string) string { return "" }); err == nil {
		t.Error("an argument too many is not refused")
	}
}
