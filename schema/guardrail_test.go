package schema

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

// settingsOf are rows of system_views.settings, or an error.
type settingsOf struct {
	name, value string
	err         error
}

func (s settingsOf) rows(context.Context, string, ...any) ([]map[string]any, error) {
	return []map[string]any{{"name": s.name, "value": s.value}}, s.err
}

// Guardrails of a node that reject writes, or what repairs them, are named.
func TestGuardrails(t *testing.T) {
	declared := &Schema{Tables: []Table{{ID: ID{"shop", "orders_by_id"}}}}
	for _, c := range []struct {
		name, value string
		said        string // in the first difference; empty: there is none
		breaking    bool
	}{
		{"user_timestamps_enabled", "true", "", false},
		{"user_timestamps_enabled", "false", "rejects every write", true},
		{"write_consistency_levels_disallowed", "[]", "", false},
		{"write_consistency_levels_disallowed", "[ANY, ONE, LOCAL_SERIAL]", "", false},
		{"write_consistency_levels_disallowed", "[ANY, LOCAL_QUORUM]", "writes at LOCAL_QUORUM", true},
		{"write_consistency_levels_disallowed", "[SERIAL]", "every write", true},
		{"read_consistency_levels_disallowed", "[LOCAL_QUORUM]", "reads at LOCAL_QUORUM", true},
		{"read_consistency_levels_disallowed", "[SERIAL]", "reads at SERIAL", false},
		{"maximum_timestamp_fail_threshold", "", "", false},
		{"maximum_timestamp_fail_threshold", "1m", "", false},
		{"maximum_timestamp_fail_threshold", "5000000us", "clock is ahead", false},
		{"minimum_timestamp_fail_threshold", "", "", false},
		{"minimum_timestamp_fail_threshold", "30d", "repairs and copies", false},
	} {
		found, err := guarded(t.Context(), settingsOf{c.name, c.value, nil}, declared)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.said == "" && len(found) > 0, c.said != "" && len(found) != 1:
			t.Errorf("%s: %s: %v", c.name, c.value, found)
		case c.said != "" && (!strings.Contains(found[0].String(), c.said) || len(Breaking(found)) == 1 != c.breaking):
			t.Errorf("%s: %s: %v, want %q", c.name, c.value, found, c.said)
		}
	}
}

// A server that has no such settings, or a role that may not read them, is not in the way; a failed read is.
func TestGuardrailsUnknown(t *testing.T) {
	declared := &Schema{Tables: []Table{{ID: ID{"shop", "orders_by_id"}}}}
	if found, err := guarded(t.Context(), settingsOf{err: &gocql.RequestErrUnavailable{}}, declared); len(found) > 0 || err != nil {
		t.Error(found, err)
	}
	if _, err := guarded(t.Context(), settingsOf{err: errors.New("no connection")}, declared); err == nil {
		t.Error("no error")
	}
}
