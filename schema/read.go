package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// reader reads rows of the schema tables. It is the seam to gocql.
type reader interface {
	rows(ctx context.Context, statement string, values ...any) ([]map[string]any, error)
}

type sessionReader struct {
	session *gocql.Session
	retrier request.Retrier
}

func newReader(s *session.Session) sessionReader {
	return sessionReader{s.Reads(), request.NewRetrier(retry.Policy{AttemptTimeout: 12 * time.Second, MaxElapsedTime: time.Minute}, s.Settings().Budget)}
}

// rows asks the next node if one does not answer.
func (r sessionReader) rows(ctx context.Context, statement string, values ...any) (rows []map[string]any, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, err = request.New("", nil).Do(ctx, &r.retrier, retry.Partition, func(ctx context.Context) (err error) {
		rows, err = r.once(ctx, statement, values...)
		return err
	}, nil)
	return rows, err
}

func (r sessionReader) once(ctx context.Context, statement string, values ...any) ([]map[string]any, error) {
	// The columns differ by the server's version, so all are selected, with the metadata that the answer has.
	iter := r.session.Query(statement, values...).WithContext(ctx).Consistency(gocql.One).RetryPolicy(driver.NoRetry).NoSkipMetadata().Iter()
	var rows []map[string]any
	for {
		// Into pointers to pointers, because null is not false: an option that is not set is null.
		into := make([]any, len(iter.Columns()))
		for i, c := range iter.Columns() {
			value, err := driver.New(c.TypeInfo)
			if err != nil {
				return nil, errors.Join(err, iter.Close())
			}
			into[i] = reflect.New(reflect.TypeOf(value)).Interface()
		}
		if !iter.Scan(into...) {
			return rows, iter.Close()
		}
		row := make(map[string]any, len(into))
		for i, c := range iter.Columns() {
			if p := reflect.ValueOf(into[i]).Elem(); !p.IsNil() {
				row[c.Name] = p.Elem().Interface()
			}
		}
		rows = append(rows, row)
	}
}

// Read reads the live schema of the keyspaces from whichever node coordinates. Without names, it reads all keyspaces
// but Cassandra's own. A keyspace that does not exist is left out. Unread has the functions and aggregates. Read ends
// with ctx.
func Read(ctx context.Context, s *session.Session, keyspaces ...string) (*Schema, error) {
	if err := missing(ctx, s, &Schema{}); err != nil {
		return nil, err
	}
	r := newReader(s)
	if len(keyspaces) == 0 {
		var err error
		if keyspaces, err = userKeyspaces(ctx, r); err != nil {
			return nil, fmt.Errorf("schema: list the keyspaces: %w", err)
		}
	}
	found, err := read(ctx, r, keyspaces)
	if err == nil {
		found.Unread, err = readCode(ctx, r, keyspaces)
	}
	if err != nil {
		return nil, fmt.Errorf("schema: read the live schema: %w", err)
	}
	return found, nil
}

// readCode names the functions and aggregates, which a [Schema] does not have. A server that rejects the question has
// none.
func readCode(ctx context.Context, r reader, keyspaces []string) (code []Unread, err error) {
	for _, keyspace := range keyspaces {
		for _, kind := range []string{"function", "aggregate"} {
			rows, err := r.rows(ctx, `SELECT * FROM system_schema.`+kind+`s WHERE keyspace_name = ?`, keyspace)
			if _, answered := driver.RequestError(err); err != nil && !answered {
				return nil, err
			}
			for _, row := range rows {
				types := strings.Join(value[[]string](row, "argument_types"), ", ")
				text := fmt.Sprintf("%s %s (%s)", kind, ID{keyspace, value[string](row, kind+"_name")}, types)
				code = append(code, Unread{Text: text, Reason: text})
			}
		}
	}
	return code, nil
}

// userKeyspaces lists the keyspaces of a cluster that are not Cassandra's own.
func userKeyspaces(ctx context.Context, r reader) ([]string, error) {
	rows, err := r.rows(ctx, `SELECT * FROM system_schema.keyspaces`)
	names := each.Of(rows, func(row map[string]any) string { return value[string](row, "keyspace_name") })
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return n == "system" || strings.HasPrefix(n, "system_") || n == "dse_system" }), err
}

func read(ctx context.Context, r reader, keyspaces []string) (*Schema, error) {
	s := &Schema{}
	for _, name := range keyspaces {
		if err := readKeyspace(ctx, r, name, s); err != nil {
			return nil, fmt.Errorf("keyspace %s: %w", name, err)
		}
	}
	return s, nil
}

func readKeyspace(ctx context.Context, r reader, keyspace string, s *Schema) error {
	rows := make(map[string][]map[string]any)
	for _, table := range []string{"keyspaces", "types", "columns", "tables", "indexes", "views"} {
		var err error
		rows[table], err = r.rows(ctx, `SELECT * FROM system_schema.`+table+` WHERE keyspace_name = ?`, keyspace)
		if err != nil || len(rows["keyspaces"]) == 0 {
			return err
		}
	}
	row := rows["keyspaces"][0]
	s.Keyspaces = append(s.Keyspaces, Keyspace{
		Name: keyspace, Replication: normalReplication(value[map[string]string](row, "replication")), NonDurable: row["durable_writes"] == false,
	})
	for _, row := range rows["types"] {
		t := Type{ID: ID{keyspace, value[string](row, "type_name")}}
		names, types := value[[]string](row, "field_names"), value[[]string](row, "field_types")
		for i := range min(len(names), len(types)) {
			t.Fields = append(t.Fields, Field{names[i], liveType(types[i])})
		}
		s.Types = append(s.Types, t)
	}
	flags := make(map[string][]string)
	for _, row := range rows["tables"] {
		flags[value[string](row, "table_name")] = value[[]string](row, "flags")
	}
	columns := make(map[string][]Column)
	slices.SortStableFunc(rows["columns"], byPlace)
	for _, row := range rows["columns"] {
		table, typ := value[string](row, "table_name"), value[string](row, "type")
		kind := visible(flags[table], value[string](row, "kind"), typ)
		if kind == "" || typ == "empty" && named(s.Types, ID{keyspace, typ}) == nil { // the second after DROP COMPACT STORAGE
			continue
		}
		columns[table] = append(columns[table], Column{
			Name: value[string](row, "column_name"), Type: liveType(typ), Kind: Kind(kind), Desc: value[string](row, "clustering_order") == "desc",
		})
	}
	modes, err := transactionalModes(ctx, r, keyspace, rows["tables"])
	if err != nil {
		return err
	}
	s.accord = s.accord || modes != nil
	for _, row := range rows["tables"] {
		name := value[string](row, "table_name")
		if name == lockTable {
			continue
		}
		mode := modes[name]
		if mode[0] != "" {
			row[optTransactions] = mode[0]
		}
		t := Table{ID: ID{keyspace, name}, Columns: columns[name], Options: liveOptions(row), mode: mode[0], migratesFrom: mode[1]}
		if compact, _ := compact(flags[name]); compact {
			t.Options[ast.CompactStorage] = "true"
		}
		t.splitComment()
		s.Tables = append(s.Tables, t)
	}
	for _, row := range rows["indexes"] {
		options := value[map[string]string](row, "options")
		s.Indexes = append(s.Indexes, Index{
			ID: ID{keyspace, value[string](row, "index_name")}, Table: value[string](row, "table_name"), Target: liveTarget(options["target"]),
			Class: indexClass(options["class_name"]), Options: indexOptions(options),
		})
	}
	for _, row := range rows["views"] {
		name := value[string](row, "view_name")
		s.Views = append(s.Views, View{
			ID: ID{keyspace, name}, Base: value[string](row, "base_table_name"), Columns: columns[name],
			All: row["include_all_columns"] == true, Where: liveClause(value[string](row, "where_clause")), Options: liveOptions(row),
		})
	}
	s.sort()
	return nil
}

// transactionalModes are the options transactional_mode of the tables of a keyspace by table, which Cassandra 6 tells
// in DESCRIBE alone.
func transactionalModes(ctx context.Context, r reader, keyspace string, tables []map[string]any) (map[string][2]string, error) {
	if len(tables) == 0 || tables[0]["fast_path"] == nil { // an option that came with transactional_mode
		return nil, nil
	}
	rows, err := r.rows(ctx, `DESCRIBE KEYSPACE `+cql.Quote(keyspace))
	modes := make(map[string][2]string)
	for _, row := range rows {
		if value[string](row, "type") == "table" {
			mode, from := ast.TransactionalMode(value[string](row, "create_statement"))
			modes[strings.Trim(value[string](row, "name"), `"`)] = [2]string{mode, from}
		}
	}
	return modes, err
}

// byPlace brings the columns of a table into the order that [Table] promises. What is not in the key comes by name, as
// the server keeps it.
func byPlace(a, b map[string]any) int {
	rank := func(row map[string]any) int {
		return slices.Index([]Kind{PartitionKey, Clustering, Static, Regular}, Kind(value[string](row, "kind")))
	}
	return cmp.Or(rank(a)-rank(b), value[int](a, "position")-value[int](b, "position"),
		strings.Compare(value[string](a, "column_name"), value[string](b, "column_name")))
}

// sort brings what the server lists in no order of meaning into that of names.
func (s *Schema) sort() {
	by := func(a, b ID) int { return strings.Compare(a.Keyspace+"."+a.Name, b.Keyspace+"."+b.Name) }
	slices.SortFunc(s.Types, func(a, b Type) int { return by(a.ID, b.ID) })
	slices.SortFunc(s.Tables, func(a, b Table) int { return by(a.ID, b.ID) })
	slices.SortFunc(s.Indexes, func(a, b Index) int { return by(a.ID, b.ID) })
	slices.SortFunc(s.Views, func(a, b View) int { return by(a.ID, b.ID) })
}

// liveType spells a type of the schema tables. They spell it so already, except where a version did otherwise. What is
// no type becomes text in quotes, so that it cannot be more than that in a statement; no server takes such a statement.
func liveType(text string) string {
	if t, err := cql.ParseType(text); err == nil {
		return ast.Canonical(t).String()
	}
	return cql.Literal(text)
}

// liveClause is the restrictions of a view, in the way of [liveType]. Cassandra does not double the quotes within their
// texts.
func liveClause(text string) string {
	clause, err := ast.Clause(text)
	if err != nil {
		return cql.Literal(text)
	}
	return clause
}

// liveTarget spells what an index is on. Some custom indexes are on no column, and some on several.
func liveTarget(target string) string {
	var targets []ast.IndexTarget
	for _, t := range indexTargets(target) {
		part, column := indexTarget(strings.TrimSpace(t))
		targets = append(targets, ast.IndexTarget{Column: column, Part: part})
	}
	return targetText(targets)
}

// notOptions are the columns of system_schema.tables and views that say nothing of how a table is made, or are gone
// since Cassandra 4, or are read on their own.
var notOptions = []string{
	"keyspace_name", "table_name", "id", "flags", "dclocal_read_repair_chance", "read_repair_chance",
	"fast_path", "auto_repair", // of Cassandra 6, and left to the server
	"view_name", "base_table_id", "base_table_name", "include_all_columns", "where_clause",
}

// liveOptions gives what differs from the server's defaults.
func liveOptions(row map[string]any) map[string]string {
	t := Table{Options: make(map[string]string)}
	for name, value := range row {
		if slices.Contains(notOptions, name) || value == nil || !cql.IsColumn(name) {
			continue
		}
		if literal := liveLiteral(name, value); literal != "" {
			t.Options[name] = literal
		}
	}
	t.trim()
	return t.Options
}

// trim leaves out the options that are as the server has them by default.
func (t *Table) trim() {
	set := t.Options
	t.Options = map[string]string{optCompaction: set[optCompaction]} // on which a default depends
	for name, literal := range set {
		if name != optCompaction && literal == t.option(name) {
			delete(set, name)
		}
	}
	t.Options = set
}

// liveLiteral is the literal of an option that a server tells, empty for what is no option of today.
func liveLiteral(name string, value any) string {
	switch v := value.(type) {
	case map[string]string:
		return mapLiteral(normalOption(name, v))
	case map[string][]byte:
		return "{}" // extensions; they hold nothing that this package could show
	case string:
		if name == "memtable" && v == "" {
			return ""
		}
		return literalOf(ast.Option{Name: name, Kind: ast.String, Text: v})
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case bool, int, int8, int16, int64:
		return fmt.Sprint(v)
	}
	return ""
}

// value gives that of a column of a row, or the zero value.
func value[T any](row map[string]any, column string) T {
	v, _ := row[column].(T)
	return v
}
