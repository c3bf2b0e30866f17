package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/schema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// source is where a schema comes from, by flags and arguments.
type source struct {
	review    bool // goes on after what is not understood
	tells     bool // has findings of notes that are wrong; otherwise they are errors
	config    *config
	cluster   // localDC is of ddl
	keyspaces []string
	mapped    map[string]string // of ddl: physical keyspaces of declared ones
	sizes     bool              // measures tables of a cluster
	timeout   time.Duration

	unstated bool            // of estimate: measures only tables without a stated volume
	volumes  []schema.Volume // of estimate: they replace those of notes and declarations
}

func (s *source) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&s.hosts, "hosts", nil, "nodes of a cluster to read, host or host:port")
	f.StringSliceVar(&s.keyspaces, "keyspace", nil, "keyspaces to read (default: all but Cassandra's own); without --hosts, the one of tables that name none")
	s.access.flags(f)
	c.PreRunE = func(c *cobra.Command, _ []string) error { return s.unused(c) }
	f.DurationVar(&s.timeout, "timeout", 30*time.Second, "how long to wait for the cluster")
}

// unused rejects flags that would be ignored: those that say how to read a cluster where none is named, and those
// without a value, as of a variable of the shell that is not set. One keyspace says where tables of files belong.
func (s *source) unused(c *cobra.Command) error {
	var err error
	cluster := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(access).flags(cluster)
	c.Flags().Visit(func(f *pflag.Flag) {
		of := cluster.Lookup(f.Name) != nil
		empty := f.Value.String() == "" || f.Value.String() == "[]"
		switch {
		case err != nil:
		case empty && (of || slices.Contains([]string{"hosts", "keyspace", "map", "local-dc"}, f.Name)):
			err = fmt.Errorf("--%s is empty", f.Name)
		case len(s.hosts) == 0 && (of || slices.Contains([]string{"timeout", "sizes", "local-dc"}, f.Name)):
			err = fmt.Errorf("--%s needs --hosts", f.Name)
		}
	})
	if err == nil && len(s.hosts) == 0 && len(s.keyspaces) > 1 {
		return errors.New("several keyspaces need --hosts")
	}
	return err
}

// errNoSource is returned when there is nothing to work on.
var errNoSource = errors.New("name a CQL file, or a cluster with --hosts")

// known is what files and the binary itself say. Names without a keyspace are put into the one of --keyspace, if that
// is one. If --keyspace is for nothing else, there have to be such names, or some of that keyspace.
func (s *source) known(files []string, only bool) (*schema.Schema, error) {
	sources, err := texts(files)
	if err != nil {
		return nil, err
	}
	if len(s.keyspaces) == 1 && len(s.mapped) == 0 {
		for i := range sources {
			sources[i].Keyspace = s.keyspaces[0]
		}
	}
	review := schema.Review
	if !s.review {
		review = func(all ...schema.Source) (*schema.Schema, error) { return schema.Parse("", "", all...) }
	}
	said, err := review(sources...)
	if err != nil {
		return nil, err
	}
	if err := notCQL(sources, said); err != nil && s.review {
		return nil, err
	}
	isNote := func(u schema.Unread) bool { return strings.HasPrefix(u.Text, "--") }
	if i := slices.IndexFunc(said.Unread, isNote); i >= 0 && !s.tells {
		return nil, fmt.Errorf("%s: %s", said.Unread[i].At.File, said.Unread[i].Reason)
	}
	out := said
	switch declared := s.config.declared; {
	case declared == nil:
	case s.tells:
		out = filled(said, s.named(declared))
	default:
		out = schema.Add(declared, said)
	}
	if len(s.volumes) > 0 {
		out.Volumes = append(slices.DeleteFunc(slices.Clone(out.Volumes), func(v schema.Volume) bool {
			return slices.ContainsFunc(s.volumes, func(by schema.Volume) bool { return s.in(by.Table) == s.in(v.Table) })
		}), s.volumes...)
	}
	if len(s.mapped) > 0 {
		if err := s.checkMapped(out); err != nil {
			return nil, err
		}
		out = out.In(s.mapped)
	}
	if len(s.keyspaces) != 1 {
		return out, nil
	}
	used := func(keyspace string) bool { return keyspace == "" || keyspace == s.keyspaces[0] }
	if only && len(out.Tables)+len(out.Queries) > 0 &&
		!slices.ContainsFunc(out.Tables, func(t schema.Table) bool { return used(t.Keyspace) }) &&
		!slices.ContainsFunc(out.Queries, func(q schema.Query) bool { return used(q.Table.Keyspace) }) {
		return nil, errors.New("--keyspace is for tables that name no keyspace, and all of them name another; leave it out")
	}
	return s.named(out), nil
}

// named puts names without a keyspace into the one of --keyspace.
func (s *source) named(in *schema.Schema) *schema.Schema {
	if len(s.keyspaces) != 1 {
		return in
	}
	return in.In(map[string]string{"": s.keyspaces[0]})
}

// filled is what files say, with what is declared that they lack. A table may have columns that its set does not
// declare, and not have all that it does.
func filled(said, declared *schema.Schema) *schema.Schema {
	out := schema.Add(said, declared)
	for i := range out.Tables {
		t, of := &out.Tables[i], declared.Table(out.Tables[i].ID)
		if of == nil {
			continue
		}
		t.Columns = slices.Clone(t.Columns)
		for _, c := range of.Columns {
			if !slices.ContainsFunc(t.Columns, func(has schema.Column) bool { return has.Name == c.Name }) {
				if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
					c.Kind, c.Desc = schema.Regular, false // the key is the one of the file
				}
				t.Columns = append(t.Columns, c)
			}
		}
	}
	return out
}

// code has the ends of names of files in other languages: a statement in one of these is read by chance.
var code = strings.Fields(".go .java .kt .scala .py .rb .php .js .ts .cs .rs")

// notCQL is an error for a file of another language, such as the service's code: no statement of it is understood.
func notCQL(sources []schema.Source, said *schema.Schema) error {
	for _, in := range sources {
		file, end := in.File, filepath.Ext(in.File)
		first := slices.IndexFunc(said.Unread, func(u schema.Unread) bool {
			return u.At.File == file && strings.Contains(u.Reason, "want a statement")
		})
		understood := slices.ContainsFunc(said.Tables, func(t schema.Table) bool { return t.At.File == file }) ||
			slices.ContainsFunc(said.Queries, func(q schema.Query) bool { return q.At.File == file }) || readable(in.Text)
		if first >= 0 && end != ".cql" && (slices.Contains(code, end) || !understood) {
			return fmt.Errorf("%s: is not CQL (%s): copy the statements into a .cql file (docs/init.md), ? is fine", file, said.Unread[first].Reason)
		}
	}
	return nil
}

// readable says whether a text has a statement that can be read: one that changes what other files create leaves
// nothing of its own.
func readable(text string) bool {
	script, err := ast.NewScript(strings.TrimPrefix(text, "\ufeff"))
	for err == nil {
		if _, _, more := script.Next(); !more {
			return false
		}
		if _, _, err := script.Statement(); err == nil {
			return true
		}
	}
	return false
}

// in is the name of a table after [source.known].
func (s *source) in(id schema.ID) schema.ID {
	if id.Keyspace == "" && len(s.keyspaces) == 1 {
		id.Keyspace = s.keyspaces[0]
	}
	return id
}

// maxFile bounds what is read of a file, in bytes.
const maxFile = 16 << 20

// texts reads files, and of folders all files below whose names end with .cql.
func texts(names []string) (sources []schema.Source, err error) {
	for _, name := range names {
		files := []string{name}
		if link := linked(name); link != "" {
			return nil, fmt.Errorf("%s: a link: name its target", link)
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			if files, err = below(name); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			text, err := read(file)
			if err != nil {
				return nil, err
			}
			sources = append(sources, schema.Source{File: file, Text: text})
		}
	}
	return sources, nil
}

// linked is the part of a path that is a link, or "". What is named may be of whoever sends a change for review, also
// the folders below the working one, and a link may lead to a secret. A pipe of a shell is a link too.
func linked(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return ""
	}
	path = filepath.Clean(path)
	if wd, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
		if below, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(below) {
			path = below
		}
	}
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return at
		}
		if filepath.IsAbs(path) { // the folders above are of whoever owns the machine
			break
		}
	}
	return ""
}

// below lists the files of a folder and the folders in it, in the order of their names: numbers in these as numbers, so
// V10 comes after V9. Those that end with .down.cql undo others, and are left out. A link may lead out of the folder,
// which may be another person's, so it is an error.
func below(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil, e.IsDir(), !strings.HasSuffix(path, ".cql"), strings.HasSuffix(path, ".down.cql"):
			return err
		case !e.Type().IsRegular():
			return fmt.Errorf("%s: a link, or no regular file: remove it, or name its target", path)
		}
		files = append(files, filepath.Clean(path))
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("folder %s has no file whose name ends with .cql", folder)
	}
	parts := func(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }
	slices.SortFunc(files, func(a, b string) int { return slices.CompareFunc(parts(a), parts(b), inOrder) })
	return files, err
}

// read reads a file of text.
func read(file string) (string, error) {
	from, err := os.Open(file) //nolint:gosec // the user names it, or its folder
	if err != nil {
		return "", err
	}
	defer from.Close() //nolint:errcheck // it was only read

	text, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxFile:
		return "", fmt.Errorf("%s: larger than %d MiB", file, maxFile>>20)
	case bytes.IndexByte(text, 0) >= 0: // such as the environment of a process
		return "", fmt.Errorf("%s: no text: it has a byte 0", file)
	}
	return string(text), nil
}

var number = regexp.MustCompile("[0-9]+")

// inOrder compares names by their text, in which numbers of fewer digits come first.
func inOrder(a, b string) int {
	digits := func(name string) string {
		return number.ReplaceAllStringFunc(name, func(n string) string { return fmt.Sprintf("%20s", strings.TrimLeft(n, "0")) })
	}
	return cmp.Or(strings.Compare(digits(a), digits(b)), strings.Compare(a, b))
}

// origin says where what is known comes from, for messages.
func (s *source) origin(files []string) string {
	if s.config.declared != nil {
		files = append([]string{"what this binary declares"}, files...)
	}
	return strings.Join(files, ", ")
}

// live reads the cluster of --hosts, with the sizes of the partitions if that is asked for.
func (s *source) live(ctx context.Context, stated []schema.Volume) (*schema.Schema, error) {
	from, err := s.connect()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	live, err := schema.Read(ctx, from, s.keyspaces...)
	if err != nil {
		return nil, err
	}
	for _, k := range s.keyspaces {
		if live.Keyspace(k) == nil {
			return nil, fmt.Errorf("the cluster has no keyspace %s", k)
		}
	}
	if !s.sizes {
		return live, nil
	}
	for i := range live.Tables {
		id := live.Tables[i].ID
		if s.unstated && slices.ContainsFunc(stated, func(v schema.Volume) bool { return v.Table == id }) {
			continue
		}
		reported, err := estimate.Measure(ctx, from, id)
		if err != nil {
			without := "--sizes=false does without"
			if s.unstated {
				without = "a table whose volume is stated (--volume) is not measured"
			}
			return nil, fmt.Errorf("%w; %s", err, without)
		}
		if v, ok := reported.Volume(live); ok {
			live.Volumes = append(live.Volumes, v)
		}
	}
	return live, nil
}

// tables is [source.schema] of at least one table.
func (s *source) tables(ctx context.Context, files []string) (*schema.Schema, error) {
	found, err := s.schema(ctx, files)
	switch {
	case err != nil:
		return nil, err
	case len(found.Tables) > 0:
		return found, nil
	case len(found.Unread) > 0:
		first := found.Unread[0]
		return nil, fmt.Errorf("no table in %s: %d statements are not read, the first in %s: %s", s.origin(files), len(found.Unread), first.At.File, first.Reason)
	case len(s.hosts) == 0:
		return nil, fmt.Errorf("no table in %s: name a CQL file with CREATE TABLE, or a cluster with --hosts", s.origin(files))
	case len(s.keyspaces) == 0:
		return nil, fmt.Errorf("no table in the cluster at %v: only Cassandra's own keyspaces have any", s.hosts)
	}
	return nil, fmt.Errorf("no table in keyspace %s of the cluster: name the tables' keyspace with --keyspace", strings.Join(s.keyspaces, ", "))
}

// schema is what a command works on: the live tables if there are hosts, with what is known of their use; otherwise
// what is known.
func (s *source) schema(ctx context.Context, files []string) (*schema.Schema, error) {
	known, err := s.known(files, len(s.hosts) == 0)
	if err != nil {
		return nil, err
	}
	if len(s.hosts) == 0 {
		if len(files) == 0 && s.config.declared == nil {
			return nil, errNoSource
		}
		return known, nil
	}
	live, err := s.live(ctx, known.Volumes)
	if err != nil {
		return nil, err
	}
	known.Keyspaces, known.Types, known.Indexes, known.Views, live.Unread = nil, nil, nil, nil, nil
	// Of the tables that the cluster has, the domains of columns are taken over.
	known.Tables = slices.DeleteFunc(known.Tables, func(t schema.Table) bool { return live.Table(t.ID) == nil })
	return schema.Add(live, known), nil
}
