// Package option has the options of a table in Cassandra 5.0: their defaults, and what is wrong with a value.
package option

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// Options are what WITH says of a table, by the names of the columns of system_schema.tables: string, int, float64,
// bool or map[string]string. What is not there is null.
type Options map[string]any

// The options that are looked at.
const (
	TTL            = "default_time_to_live"
	GCGrace        = "gc_grace_seconds"
	optCompaction  = "compaction"
	optCompression = "compression"
	optCaching     = "caching"
	optBloom       = "bloom_filter_fp_chance"
	optCRC         = "crc_check_chance"
	optMinIndex    = "min_index_interval"
	optMaxIndex    = "max_index_interval"
	ReadRepair     = "read_repair"
	optSpeculative = "speculative_retry"
	optWritePolicy = "additional_write_policy"
	optExtensions  = "extensions"
	optMemtable    = "memtable"
	optSnapshot    = "allow_auto_snapshot"
	optIncremental = "incremental_backups"
	optCDC         = "cdc"
	optComment     = "comment"
	Flush          = "memtable_flush_period_in_ms"
	optID          = "id"
)

// Defaults are the options of a table that WITH says nothing of.
func Defaults() Options {
	return Options{
		optComment: "", TTL: 0, GCGrace: 864000, optBloom: 0.01, optCRC: 1.0, optMinIndex: 128, optMaxIndex: 2048,
		Flush: 0, ReadRepair: "BLOCKING", optSpeculative: "99p", optWritePolicy: "99p",
		optCaching: map[string]string{"keys": "ALL", "rows_per_partition": "NONE"},
		optCompaction: map[string]string{
			"class": compactions + "SizeTieredCompactionStrategy", "min_threshold": "4", "max_threshold": "32",
		},
		optCompression: map[string]string{"class": compressors + "LZ4Compressor", "chunk_length_in_kb": "16"},
		optExtensions:  map[string]string{},
	}
}

// Number is an option that is a number, or 0.
func (o Options) Number(name string) int {
	n, _ := o[name].(int)
	return n
}

// kind is what Cassandra reads the value of an option as.
type kind uint8

const (
	textOption kind = iota
	intOption
	floatOption
	boolOption
	mapOption
)

// Numeric says whether an option is a number, true or false.
func Numeric(name string) bool {
	return slices.Contains([]kind{intOption, floatOption, boolOption}, kinds[name])
}

// kinds are the options that there are.
var kinds = map[string]kind{
	optComment: textOption, ReadRepair: textOption, optSpeculative: textOption, optWritePolicy: textOption,
	optMemtable: textOption, optID: textOption,
	TTL: intOption, GCGrace: intOption, optMinIndex: intOption, optMaxIndex: intOption, Flush: intOption,
	optBloom: floatOption, optCRC: floatOption,
	optCDC: boolOption, optSnapshot: boolOption, optIncremental: boolOption,
	optCaching: mapOption, optCompaction: mapOption, optCompression: mapOption, optExtensions: mapOption,
}

// Set carries WITH out and gives the id that it asks for.
func (o Options) Set(list []ast.Option, alter bool) (id gocql.UUID, err error) {
	for _, option := range list {
		if _, ok := kinds[option.Name]; !ok {
			return id, Syntax("Unknown property '%s'", option.Name)
		}
	}
	bloom := false
	for _, option := range list {
		bloom = bloom || option.Name == optBloom
		if option.Name == optID {
			if id, err = tableID(option.Text, alter); err != nil {
				return id, err
			}
			continue
		}
		if err := o.setOne(option); err != nil {
			return id, err
		}
	}
	if compaction, _ := o[optCompaction].(map[string]string); !alter && !bloom &&
		compaction["class"] == compactions+"LeveledCompactionStrategy" {
		o[optBloom] = 0.1
	}
	return id, o.check()
}

// Check gives the error of an option that is wrong whatever the other options, the configuration of the nodes and
// classes of others are.
func Check(option ast.Option) error {
	o, class := Defaults(), option.Map["class"]
	_, known := compressions[strings.TrimPrefix(class, compressors)]
	switch {
	case option.Name == optMemtable, option.Name == optExtensions && option.Map != nil, option.Name == optCompression &&
		class != "" && !known,
		option.Name == optCompaction && strings.Contains(class, ".") && !strings.HasPrefix(class, compactions):
		return nil
	case option.Name == optMinIndex:
		o[optMaxIndex] = math.MaxInt
	case option.Name == optMaxIndex:
		o[optMinIndex] = 1
	}
	if err := o.setOne(option); err != nil {
		return err
	}
	return o.check()
}

func tableID(text string, alter bool) (gocql.UUID, error) {
	if alter {
		return gocql.UUID{}, Config("Cannot alter table id.")
	}
	id, err := gocql.ParseUUID(text)
	if err != nil {
		return id, Config("Invalid table id")
	}
	return id, nil
}

func (o Options) setOne(option ast.Option) (err error) {
	name, text := option.Name, option.Text
	if kinds[name] == mapOption {
		if option.Map == nil {
			return Syntax("Invalid value for property '%s'. It should be a map.", name)
		}
		o[name], err = mapValue(name, option.Map)
		return err
	}
	if option.Map != nil {
		return Syntax("Invalid value for property '%s'. It should be a string", name)
	}
	switch kinds[name] {
	case intOption:
		if o[name], err = strconv.Atoi(text); err != nil {
			return Syntax("Invalid integer value %s for '%s'", text, name)
		}
	case floatOption:
		if o[name], err = strconv.ParseFloat(text, 64); err != nil {
			return Syntax("Invalid double value %s for '%s'", text, name)
		}
	case boolOption:
		return o.setBool(name, text)
	case textOption, mapOption:
		return o.setText(name, text)
	}
	return nil
}

func (o Options) setBool(name, text string) error {
	yes := slices.Contains([]string{"1", "true", "yes"}, strings.ToLower(text))
	if !yes && !slices.Contains([]string{"0", "false", "no"}, strings.ToLower(text)) {
		return Syntax("Invalid boolean value %s for '%s'. Positive values can be '1', 'true' or 'yes'. "+
			"Negative values can be '0', 'false' or 'no'.", text, name)
	}
	switch {
	case name == optCDC: // which is shown only where the nodes have it enabled
	case yes: // as it is anyway
		delete(o, name)
	default:
		o[name] = false
	}
	return nil
}

func (o Options) setText(name, text string) error {
	switch name {
	case ReadRepair:
		text = strings.ToUpper(text)
		if text != "BLOCKING" && text != "NONE" {
			return &Error{Code: gocql.ErrCodeServer, Message: "java.lang.IllegalArgumentException: " +
				"No enum constant org.apache.cassandra.service.reads.repair.ReadRepairStrategy." + text}
		}
	case optMemtable:
		if text != "default" {
			return Config("Memtable configuration \"%s\" not found.", text)
		}
		delete(o, name)
		return nil
	case optSpeculative, optWritePolicy:
		var err error
		if text, err = speculation(text); err != nil {
			return err
		}
	}
	o[name] = text
	return nil
}

var (
	percentile = regexp.MustCompile(`(?i)^([0-9.]+)p(?:ercentile)?$`)
	fixed      = regexp.MustCompile(`(?i)^([0-9.]+)ms$`)
	hybrid     = regexp.MustCompile(`(?i)^(MIN|MAX)\(([0-9.]+[a-z]+)\s*,\s*([0-9.]+[a-z]+)\)$`)
)

// speculation is a policy of when to ask one more replica, as Cassandra spells it. It names one option for both that
// there are.
func speculation(text string) (string, error) {
	refused := Config("Invalid value %s for option '%s'", text, optSpeculative)
	switch upper := strings.ToUpper(text); upper {
	case "ALWAYS":
		return upper, nil
	case "NEVER", "NONE":
		return "NEVER", nil
	}
	if m := hybrid.FindStringSubmatch(text); m != nil {
		one, err := speculation(m[2])
		if err != nil {
			return "", err
		}
		other, err := speculation(m[3])
		if err != nil {
			return "", err
		}
		return strings.ToUpper(m[1]) + "(" + one + "," + other + ")", nil
	}
	if m := percentile.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		switch {
		case err != nil:
			return "", refused
		case n <= 0 || n >= 100:
			return "", Config("Invalid value %s for PERCENTILE option '%s': must be between (0.0 and 100.0)", text,
				optSpeculative)
		}
		return strconv.FormatFloat(n, 'f', -1, 64) + "p", nil
	}
	if m := fixed.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return "", refused
		}
		return strconv.Itoa(int(n)) + "ms", nil
	}
	return "", refused
}

// maxTTL is 20 years, in seconds.
const maxTTL = 20 * 365 * 24 * 60 * 60

// check rejects values that are out of bounds.
func (o Options) check() error {
	bloom, _ := o[optBloom].(float64)
	crc, _ := o[optCRC].(float64)
	if bloom <= 6.71e-5 || bloom > 1 {
		return Config("%s must be larger than 6.71E-5 and less than or equal to 1.0 (got %s)", optBloom, javaDouble(bloom))
	}
	if crc < 0 || crc > 1 {
		return Config("%s must be larger than or equal to 0 and smaller than or equal to 1.0 (got %s)", optCRC,
			javaDouble(crc))
	}
	for _, least := range []struct {
		name string
		n    int
	}{{TTL, 0}, {GCGrace, 0}, {optMinIndex, 1}, {Flush, 0}} {
		if n := o.Number(least.name); n < least.n {
			return Config("%s must be greater than or equal to %d (got %d)", least.name, least.n, n)
		}
	}
	if n := o.Number(TTL); n > maxTTL {
		return Config("%s must be less than or equal to %d (got %d)", TTL, maxTTL, n)
	}
	if low, high := o.Number(optMinIndex), o.Number(optMaxIndex); high < low {
		return Config("%s must be greater than or equal to %s (%d) (got %d)", optMaxIndex, optMinIndex, low, high)
	}
	return nil
}

// javaDouble spells a number as Java does, if it is neither huge nor tiny.
func javaDouble(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
