package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
)

// Options are what a declaration says about a table, without its columns. A field that is zero leaves the choice to the
// server, except for TTL: 0 declares that rows stay.
type Options struct {
	// Compaction is the option of that name: [TimeWindow] for time series, or {"class": "LeveledCompactionStrategy"} for
	// tables that are read much more than written.
	Compaction map[string]string
	// Compression is the option of that name. {"enabled": "false"} turns it off. Small chunks suit small rows that are
	// read one by one: {"class": "LZ4Compressor", "chunk_length_in_kb": "4"}.
	Compression map[string]string
	// TTL is the default time to live of rows that are written without one, in whole seconds. 0: rows stay. If a table of
	// a set declares a TTL, Validate compares all its tables, those with 0 too. Otherwise live tables must share one TTL:
	// Differences reports it unless 0. In a Versioned set of several tables it must be 0. A declared TTL
	// of a query table may be shorter than the base table's, but not longer. Package reconcile rejects a query table with
	// a TTL other than the base table's.
	TTL time.Duration
	// GCGrace is gc_grace_seconds, how long tombstones are kept, in whole seconds. 0 stands for the server's default, 10
	// days; [NoGCGrace] for none.
	GCGrace time.Duration
	// Comment is the service's own comment. The fingerprint of a set is written after it, and is not part of it.
	Comment string
	// Other holds further options by name. Values are CQL literals, text with its quotes. A value that conflicts with the
	// field of the same option is an error of [Declare].
	Other map[string]string
}

// NoGCGrace is gc_grace_seconds = 0. A table with it must not be in a logged batch: the batchlog would drop the batch.
const NoGCGrace time.Duration = -1

// TimeWindow returns the compaction for time series. Rows of one window end up in one file, which is dropped as a whole
// when all of it has expired. The function that takes the result rejects a window that is not a whole number of
// minutes. A thirtieth of the TTL is a good window.
func TimeWindow(window time.Duration) map[string]string {
	m := map[string]string{"class": "TimeWindowCompactionStrategy"}
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"DAYS", 24 * time.Hour}, {"HOURS", time.Hour}, {"MINUTES", time.Minute}} {
		if window >= unit.size && window%unit.size == 0 {
			m["compaction_window_unit"], m[windowSize] = unit.name, strconv.FormatInt(int64(window/unit.size), 10)
			return m
		}
	}
	m[windowSize] = window.String() // no number, so rejected by literals
	return m
}

// windowSize is the entry of a compaction that says how long its windows are, as a number of its unit.
const windowSize = "compaction_window_size"

// The options that this package knows by name.
const (
	optComment     = "comment"
	optCompaction  = "compaction"
	optCompression = "compression"
	optTTL         = "default_time_to_live"
	optGCGrace     = "gc_grace_seconds"
	optCaching     = "caching"
	optSpeculative = "speculative_retry"
	optAdditional  = "additional_write_policy"
	optReadRepair  = "read_repair"
	optExtensions  = "extensions"

	optTransactions = "transactional_mode"
)

// literals gives the options as [Table.Options] holds them.
func (o Options) literals() (map[string]string, error) {
	out := make(map[string]string)
	for name, value := range o.Other {
		literal, err := canonicalLiteral(name, value)
		if err != nil {
			return nil, err
		}
		out[name] = literal
	}
	var errs []error
	put := func(name, field, literal string) {
		if other, ok := out[name]; ok && other != literal {
			errs = append(errs, fmt.Errorf("%s is %s by the field %s and %s by Other: leave one out", name, literal, field, other))
		}
		out[name] = literal
	}
	if o.Comment != "" {
		put(optComment, "Comment", cql.Literal(o.Comment))
	}
	if o.Compaction != nil {
		if size, ok := o.Compaction[windowSize]; ok {
			if n, err := strconv.Atoi(size); err != nil || n < 1 {
				return nil, fmt.Errorf("compaction: the window is %s, not whole minutes: write it with a unit, as in TimeWindow(24*time.Hour)", size)
			}
		}
		put(optCompaction, "Compaction", mapLiteral(normalOption(optCompaction, o.Compaction)))
	}
	if o.Compression != nil {
		put(optCompression, "Compression", mapLiteral(normalOption(optCompression, o.Compression)))
	}
	for _, t := range []struct {
		name, field string
		value       time.Duration
	}{{optTTL, "TTL", o.TTL}, {optGCGrace, "GCGrace", o.GCGrace}} {
		switch {
		case t.value == NoGCGrace && t.name == optGCGrace:
			put(t.name, t.field, "0")
		case t.value < 0 || t.value%time.Second != 0:
			return nil, fmt.Errorf("%s must be whole seconds, not %s: write it with a unit, as in 10*24*time.Hour",
				t.name, t.value)
		case t.value > 0:
			put(t.name, t.field, strconv.FormatInt(int64(t.value/time.Second), 10))
		}
	}
	return out, errors.Join(errs...)
}

// canonicalLiteral spells the value of an option in the one way in which it is compared.
func canonicalLiteral(option, value string) (string, error) {
	o, err := ast.ParseOption(value)
	if err != nil {
		if !strings.ContainsAny(value, `'"{}`) {
			err = fmt.Errorf("%w: text goes in its quotes: %s", err, cql.Literal(value))
		}
		return "", fmt.Errorf("option %s: %w", option, err)
	}
	o.Name = option
	if why, kept := rejected(o); why != "" && !kept {
		return "", fmt.Errorf("option %s: %s", option, why)
	}
	return literalOf(o), nil
}

// literalOf is the value of an option in that spelling.
func literalOf(o ast.Option) string {
	switch {
	case o.Map != nil:
		return mapLiteral(normalOption(o.Name, o.Map))
	case o.Name == optSpeculative, o.Name == optAdditional:
		return cql.Literal(policy(o.Text))
	case o.Name == optReadRepair:
		return cql.Literal(strings.ToUpper(o.Text))
	case o.Kind == ast.String && quotable(o):
		return numberLiteral(strings.ToLower(o.Text))
	case o.Kind == ast.String:
		return cql.Literal(o.Text)
	case o.Kind == ast.Integer || o.Kind == ast.Float:
		return numberLiteral(o.Text)
	}
	return o.Text
}

// quotable says whether the text of an option is a number, true or false, of which the server does not keep the quotes.
func quotable(o ast.Option) bool {
	is, err := ast.ParseOption(o.Text)
	kinds := []ast.TermKind{ast.Integer, ast.Float, ast.Boolean}
	return err == nil && slices.Contains(kinds, is.Kind) && is.Map == nil && option.Numeric(o.Name)
}

// latency matches what one of the options with a policy waits for: a percentile, or milliseconds.
var latency = regexp.MustCompile(`(?i)([0-9.]+) *(percentile|p|ms)\b`)

// policy is the value of speculative_retry or additional_write_policy as the server gives it back: 99p for
// 99PERCENTILE, which it has been since Cassandra 4.0, NEVER for NONE, and MIN(99p,50ms) for min(50.0ms, 99PERCENTILE).
func policy(text string) string {
	text = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	if text == "NONE" {
		return "NEVER"
	}
	text = latency.ReplaceAllStringFunc(text, func(part string) string {
		value := latency.FindStringSubmatch(part)
		n, err := strconv.ParseFloat(value[1], 64)
		switch {
		case err != nil:
			return part
		case value[2] == "MS":
			return strconv.FormatFloat(math.Trunc(n), 'f', -1, 64) + "ms"
		}
		return strconv.FormatFloat(math.Round(n*1e4)/1e4, 'f', -1, 64) + "p"
	})
	name, two, both := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	if a, b, ok := strings.Cut(two, ","); both && ok && strings.HasSuffix(a, "ms") {
		return name + "(" + b + "," + a + ")"
	}
	return text
}

// mapLiteral writes a map, its class first.
func mapLiteral(m map[string]string) string {
	keys := slices.Sorted(maps.Keys(m))
	if i := slices.Index(keys, "class"); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, "class")
	}
	entries := each.Of(keys, func(k string) string { return cql.Literal(k) + ": " + cql.Literal(m[k]) })
	return "{" + strings.Join(entries, ", ") + "}"
}

// numberLiteral gives a number one spelling.
func numberLiteral(s string) string {
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return s
}

// impliedOptions are entries that the server adds where nothing is said, by option.
var impliedOptions = map[string]map[string]string{
	optCompaction:  {"max_threshold": "32", "min_threshold": "4", "enabled": "true"},
	optCompression: {"chunk_length_in_kb": "16", "enabled": "true"},
}

// className is the name of a class without the package, if it is one of Cassandra's: there the server looks for a name
// without any.
func className(name string) string {
	if strings.HasPrefix(name, "org.apache.cassandra.") {
		return name[strings.LastIndex(name, ".")+1:]
	}
	return name
}

// normalOption brings the value of a map option into the form in which it is compared: classes without Cassandra's
// package, and without entries that say what would be so anyway.
func normalOption(option string, m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	if class, ok := m["sstable_compression"]; ok && class == "" { // how compression was turned off before Cassandra 3.0
		return map[string]string{"enabled": "false"}
	}
	named := option == optCaching || m["class"] != "" || m["sstable_compression"] != "" // else nothing is implied: it is rejected
	for k, v := range m {
		if k == "sstable_compression" {
			k = "class"
		}
		if k == "class" {
			v = className(v)
		}
		if k == "chunk_length_kb" {
			k = "chunk_length_in_kb"
		}
		if named && impliedOptions[option][k] == v {
			continue
		}
		out[k] = v
	}
	if option == optCompaction && out["class"] == "TimeWindowCompactionStrategy" { // it reads better with its window
		out["compaction_window_unit"] = cmp.Or(out["compaction_window_unit"], "DAYS")
		out[windowSize] = cmp.Or(out[windowSize], "1")
	}
	if option == optCaching { // the server completes it
		for k, v := range map[string]string{"keys": "ALL", "rows_per_partition": "NONE"} {
			out[k] = cmp.Or(out[k], v)
		}
	}
	if option == optCompression && out["enabled"] == "false" {
		return map[string]string{"enabled": "false"}
	}
	return out
}

// serverDefaults are the options of a table for which nothing is said, in Cassandra 4 and 5. What a server's
// configuration chooses is not among them.
var serverDefaults = func() map[string]string {
	all := map[string]string{
		"allow_auto_snapshot": "true", "cdc": "false", "incremental_backups": "true", "memtable": "'default'", optTransactions: "'off'",
	}
	for name, value := range option.Defaults() {
		all[name] = liveLiteral(name, value)
	}
	return all
}()

// since4 are options that Cassandra 4.0 has removed, and others the options of single versions that have no default
// here.
var (
	since4  = []string{"read_repair_chance", "dclocal_read_repair_chance"}
	others6 = []string{"id", "fast_path", "auto_repair", "transactional_migration_from", "security_label", ast.CompactStorage}
)

// rejected says why Cassandra rejects an option, empty if it does not. With kept, only newer versions do.
func rejected(o ast.Option) (why string, kept bool) {
	_, known := serverDefaults[o.Name]
	switch text := literalOf(o); {
	case slices.Contains(others6, o.Name):
	case slices.Contains(since4, o.Name):
		return "Cassandra has removed it in 4.0", false
	case !known:
		return "Cassandra does not know it", false
	case strings.HasPrefix(text, "$") || strings.Contains(text, "${") || strings.Contains(text, "{{"): // a template
	case className(o.Map["class"]) == "DateTieredCompactionStrategy": // package lint says so
	case o.Name == optCompression:
		for _, old := range []string{"sstable_compression", "chunk_length_kb", "crc_check_chance"} {
			if _, ok := o.Map[old]; ok {
				return "Cassandra has removed its entry " + old + " in 5.0", true
			}
		}
		fallthrough
	default:
		if err := option.Check(o); err != nil {
			return "Cassandra answers: " + err.Error(), false
		}
	}
	return "", false
}

// option gives the literal of an option, or what holds where nothing is said.
func (t *Table) option(name string) string {
	if v, ok := t.Options[name]; ok {
		return v
	}
	if name == "bloom_filter_fp_chance" && t.Compaction() == "LeveledCompactionStrategy" {
		return "0.1"
	}
	return serverDefaults[name]
}

// TTL returns the default time to live of the table, 0 if it has none.
func (t *Table) TTL() time.Duration { return seconds(t.option(optTTL)) }

// GCGrace returns how long the table keeps tombstones.
func (t *Table) GCGrace() time.Duration {
	if _, err := strconv.Atoi(t.option(optGCGrace)); err != nil { // a template
		return seconds(serverDefaults[optGCGrace])
	}
	return seconds(t.option(optGCGrace))
}

// Compaction returns the class of the table's compaction, without its Java package.
func (t *Table) Compaction() string {
	class := t.entry(optCompaction, "class")
	return class[strings.LastIndex(class, ".")+1:]
}

// Comment returns the comment of the table.
func (t *Table) Comment() string {
	return ast.Unquote(t.option(optComment))
}

// entry gives an entry of a map option.
func (t *Table) entry(option, key string) string {
	o, _ := ast.ParseOption(t.option(option))
	return o.Map[key]
}

func seconds(literal string) time.Duration {
	n, err := strconv.ParseInt(literal, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
