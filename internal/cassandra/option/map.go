package option

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

const (
	compactions = "org.apache.cassandra.db.compaction."
	compressors = "org.apache.cassandra.io.compress."
)

// mapValue gives an option that is a map as Cassandra keeps it.
func mapValue(name string, value map[string]string) (map[string]string, error) {
	switch name {
	case optCaching:
		return caching(value)
	case optCompaction:
		return compaction(value)
	case optCompression:
		return compression(value)
	}
	if len(value) > 0 {
		return nil, &Error{Code: gocql.ErrCodeInvalid, Reason: Unsupported, Message: ast.Unsupported + name}
	}
	return value, nil
}

func caching(value map[string]string) (map[string]string, error) {
	out := map[string]string{"keys": "NONE", "rows_per_partition": "NONE"}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if _, ok := out[name]; !ok {
			unknown = append(unknown, name)
		}
		out[name] = strings.ToUpper(value[name])
	}
	if len(unknown) > 0 {
		return nil, Config("Invalid caching sub-options [%s]: only 'keys' and 'rows_per_partition' are allowed",
			strings.Join(unknown, ", "))
	}
	if keys := out["keys"]; keys != "ALL" && keys != "NONE" {
		return nil, Config("Invalid value '%s' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed",
			value["keys"])
	}
	rows := out["rows_per_partition"]
	if n, err := strconv.Atoi(rows); rows != "ALL" && rows != "NONE" && (err != nil || n < 0) {
		return nil, Config("Invalid value '%s' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', "+
			"and integer values are allowed", value["rows_per_partition"])
	}
	return out, nil
}

// The options of strategies of compaction.
var (
	everyStrategy = strings.Fields(`class enabled log_all only_purge_repaired_tombstones provide_overlapping_tombstones
		tombstone_compaction_interval tombstone_threshold unchecked_tombstone_compaction`)
	thresholds = strings.Fields("min_threshold max_threshold")
	sizeTiered = strings.Fields("bucket_high bucket_low min_sstable_size")
	strategies = map[string][]string{
		"SizeTieredCompactionStrategy": slices.Concat(thresholds, sizeTiered),
		"LeveledCompactionStrategy": slices.Concat(thresholds, sizeTiered,
			strings.Fields("fanout_size single_sstable_uplevel sstable_size_in_mb")),
		"TimeWindowCompactionStrategy": slices.Concat(thresholds, sizeTiered, strings.Fields(`compaction_window_size
			compaction_window_unit expired_sstable_check_frequency_seconds timestamp_resolution
			unsafe_aggressive_sstable_expiration`)),
		"UnifiedCompactionStrategy": strings.Fields(`base_shard_count expired_sstable_check_frequency_seconds
			flush_size_override max_sstables_to_compact min_sstable_size overlap_inclusion_method scaling_parameters
			sstable_growth target_sstable_size unsafe_aggressive_sstable_expiration`),
	}
)

func compaction(value map[string]string) (map[string]string, error) {
	class := value["class"]
	if class == "" {
		return nil, Config("Missing sub-option 'class' for the 'compaction' option")
	}
	if !strings.Contains(class, ".") {
		class = compactions + class
	}
	name := strings.TrimPrefix(class, compactions)
	own, ok := strategies[name]
	if !ok {
		return nil, Config("Unable to find compaction strategy class '%s'", class)
	}
	var unknown []string
	for _, option := range slices.Sorted(maps.Keys(value)) {
		if !slices.Contains(own, option) && !slices.Contains(everyStrategy, option) {
			unknown = append(unknown, option)
		}
	}
	if len(unknown) > 0 {
		return nil, Config("Properties specified [%s] are not understood by %s", strings.Join(unknown, ", "), name)
	}
	out := maps.Clone(value)
	out["class"] = class
	if slices.Contains(own, thresholds[0]) {
		for option, n := range map[string]string{"min_threshold": "4", "max_threshold": "32"} {
			if out[option] == "" {
				out[option] = n
			}
		}
	}
	return out, nil
}

var compressions = map[string][]string{
	"LZ4Compressor": {"lz4_compressor_type", "lz4_high_compressor_level"}, "SnappyCompressor": nil,
	"DeflateCompressor": nil,
	"ZstdCompressor":    {"compression_level"}, "NoopCompressor": nil,
}

func compression(value map[string]string) (map[string]string, error) {
	if len(value) == 0 || strings.EqualFold(value["enabled"], "false") {
		if value["class"] != "" {
			return nil, Config("The 'class' option must not be specified when compression is disabled")
		}
		return map[string]string{"enabled": "false"}, nil
	}
	class := value["class"]
	if class == "" {
		return nil, Config("Missing sub-option 'class' for the 'compression' option.")
	}
	if !strings.Contains(class, ".") {
		class = compressors + class
	}
	own, ok := compressions[strings.TrimPrefix(class, compressors)]
	if !ok {
		return nil, Config("Could not create Compression for type %s", class)
	}
	out := map[string]string{"class": class, "chunk_length_in_kb": "16"}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		text := value[name]
		switch {
		case name == "class" || name == "enabled":
		case name == "chunk_length_in_kb":
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, Config("Invalid value [%s] for option [chunk_length_in_kb]", text)
			}
			if n <= 0 || n&(n-1) != 0 {
				return nil, Config("chunk_length_in_kb must be a power of 2")
			}
			out[name] = strconv.Itoa(n)
		case name == "min_compress_ratio":
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, Config("Invalid value [%s] for option [min_compress_ratio]", text)
			}
			if f != 0 {
				out[name] = javaDouble(f)
			}
		case slices.Contains(own, name):
			out[name] = text
		default:
			return nil, Config("Unknown compression options %s", name)
		}
	}
	return out, nil
}
