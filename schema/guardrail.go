package schema

import (
	"context"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/each"
)

// guardrail is a setting of a node that can reject what the library sends.
type guardrail struct {
	name    string
	rejects func(value string) bool
	what    string // is rejected
	want    string // in cassandra.yaml
	later   bool   // no write of a service is rejected
}

// skew is the default of writer.MaxClockSkew.
const skew = 10 * time.Second

var guardrails = []guardrail{
	{
		"user_timestamps_enabled", func(v string) bool { return v == "false" },
		"every write, because each names its timestamp", "true", false,
	},
	{
		"write_consistency_levels_disallowed", func(v string) bool { return names(v, "LOCAL_QUORUM") },
		"writes at LOCAL_QUORUM, the default of writer.Consistency", "a list without it", false,
	},
	{
		"write_consistency_levels_disallowed", func(v string) bool { return names(v, "SERIAL") },
		"every write, because Cassandra also checks the level SERIAL, which each request has", "a list without it", false,
	},
	{
		"read_consistency_levels_disallowed", func(v string) bool { return names(v, "LOCAL_QUORUM") },
		"reads at LOCAL_QUORUM, the default of reader.Consistency", "a list without it", false,
	},
	{
		"read_consistency_levels_disallowed", func(v string) bool { return names(v, "SERIAL") },
		"reads at SERIAL, which find out what a transaction did", "a list without it", true,
	},
	{
		"maximum_timestamp_fail_threshold", func(v string) bool { d := thresholdOf(v); return d > 0 && d < skew },
		"writes of a process whose clock is ahead by more, which writer.MaxClockSkew allows", "at least 10s", true,
	},
	{
		"minimum_timestamp_fail_threshold", func(v string) bool { return thresholdOf(v) > 0 },
		"repairs and copies of older rows, and late retries", "no value while reconcile runs", true,
	},
}

// names says whether a list such as [ANY, ONE] has a level.
func names(list, level string) bool {
	for name := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
		if strings.EqualFold(strings.TrimSpace(name), level) {
			return true
		}
	}
	return false
}

// thresholdOf reads a duration of Cassandra, such as 30d. It is 0 for what is not set.
func thresholdOf(text string) time.Duration {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		d, _ := time.ParseDuration(days + "h")
		return 24 * d
	}
	d, _ := time.ParseDuration(text)
	return d
}

// guarded says which guardrails of one node reject what the library sends. It says nothing where a server rejects the
// question: it has no such table, or the role may not read it. A difference names the first table, and is of all.
func guarded(ctx context.Context, r reader, declared *Schema) ([]Difference, error) {
	if len(declared.Tables) == 0 {
		return nil, nil
	}
	base := declared.Tables[0].ID
	in := each.Of(guardrails, func(g guardrail) string { return cql.Literal(g.name) })
	rows, err := r.rows(ctx, "SELECT name, value FROM system_views.settings WHERE name IN ("+strings.Join(in, ", ")+")")
	if _, answered := driver.RequestError(err); answered {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Difference
	for _, row := range rows {
		name, _ := row["name"].(string)
		value, _ := row["value"].(string)
		for _, g := range guardrails {
			if g.name == name && g.rejects(value) {
				out = append(out, Difference{
					Keyspace: base.Keyspace, Table: base.Name, Note: g.later,
					Reason:     "the guardrail " + name + ": " + value + " rejects " + g.what,
					Impossible: "set it in cassandra.yaml to " + g.want,
				})
			}
		}
	}
	return out, nil
}
