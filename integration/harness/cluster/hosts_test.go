package cluster

import (
	"slices"
	"testing"
)

func TestParseHosts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		list string
		want []string // nil: an error
	}{
		{"db", []string{"db"}},
		{"10.0.0.1,10.0.0.2:9142", []string{"10.0.0.1", "10.0.0.2:9142"}},
		{" a , b ,", []string{"a", "b"}},
		{"::1,[::1]:9042", []string{"::1", "[::1]:9042"}},
		{"", nil},
		{" , ", nil},
		{"a:b", nil},
		{"a:0", nil},
		{"a:65536", nil},
		{":9042", nil},
		{"a b", nil},
		{"cassandra://a", nil},
		{"user@a", nil},
	}
	for _, test := range tests {
		got, err := parseHosts(test.list)
		if !slices.Equal(got, test.want) || (err == nil) != (test.want != nil) {
			t.Errorf("parseHosts(%q) = %q, %v; want %q", test.list, got, err, test.want)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"db": "db:9042", "db:1": "db:1", "::1": "[::1]:9042", "[::1]:1": "[::1]:1", "127.0.0.3": "127.0.0.3:9042",
	} {
		if got := address(host); got != want {
			t.Errorf("address(%q) = %q, want %q", host, got, want)
		}
	}
}
