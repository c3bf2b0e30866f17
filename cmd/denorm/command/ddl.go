package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

func newDDL(config *config) *cobra.Command {
	s := &source{config: config}
	var migrate bool
	c := &cobra.Command{
		Use:   "ddl [file.cql | folder ...]",
		Short: "Write the CQL that creates the tables, or that brings a cluster to what is declared",
		Long: `Write the CQL that creates the tables: of a cluster (--hosts), of files, or of what the binary declares.

With --migrate, compare what is declared with the cluster and write, for review, the statements that would fix each
difference. Nothing is ever executed. A terminal is shown what cannot be printed as escapes; a file gets the text as it is.
Exit codes: 0 no difference that matters, 1 there are some, 2 it could not be done.`,
		RunE: func(c *cobra.Command, files []string) error {
			if migrate {
				return s.migrate(c, files)
			}
			found, err := s.created(c, files)
			if err != nil {
				return err
			}
			var b strings.Builder
			rest := found.CQL()
			for _, statement := range found.Statements() {
				before, after, _ := strings.Cut(rest, statement+";\n")
				text := statement + ";\n"
				if printable.Commands(statement) {
					err = errors.New("a statement is commented out: it has a command to a CI service (##, or a line that begins with ::)")
					text = ast.CommentLine(statement + ";")
				}
				b.WriteString(before + text)
				rest = after
			}
			text := b.String() + rest
			return cmp.Or(s.config.writeText(c, text), err)
		},
	}
	s.flags(c)
	mapFlag(c.Flags(), &s.mapped)
	localDCFlag(c.Flags(), &s.localDC)
	c.Flags().BoolVar(&migrate, "migrate", false, "compare what is declared, in files or the binary, with the cluster of --hosts")
	return c
}

// created is what to write CQL of: the cluster's tables as they are, or the declared ones.
func (s *source) created(c *cobra.Command, files []string) (*schema.Schema, error) {
	if len(s.hosts) == 0 {
		found, err := s.schema(c.Context(), files)
		if err == nil && len(found.Statements()) == 0 {
			err = s.nothing(files)
		}
		return found, err
	}
	if len(files) > 0 {
		return nil, errors.New("with --hosts the CQL is of the cluster: leave out the files, or add --migrate to compare with them")
	}
	if len(s.mapped) > 0 {
		return nil, errors.New("with --hosts the CQL is of the cluster, and --map is for what is declared: leave it out, or add --migrate")
	}
	return s.live(c.Context(), nil)
}

// checkMapped rejects a --map that cannot be meant.
func (s *source) checkMapped(declared *schema.Schema) error {
	if _, own := s.mapped[""]; own && len(s.keyspaces) > 0 {
		return errors.New("--keyspace and --map both say where tables belong that name no keyspace: leave out one of them")
	}
	for _, name := range slices.Sorted(maps.Keys(s.mapped)) {
		if !cql.IsTable(s.mapped[name]) {
			return fmt.Errorf("--map: %q is not a name of %s", s.mapped[name], cql.TableRule)
		}
	}
	return checkMap(s.mapped, declared)
}

// nothing says that files and the binary create nothing.
func (s *source) nothing(files []string) error {
	return fmt.Errorf("nothing is created in %s: name a CQL file with CREATE TABLE", s.origin(files))
}

// in names the keyspaces that are compared.
func in(declared *schema.Schema) string {
	names := slices.Sorted(slices.Values(each.Once(each.Of(declared.Tables, keyspaceOf))))
	if len(names) == 0 {
		return ""
	}
	return " in " + strings.Join(names, ", ")
}

func keyspaceOf(t schema.Table) string { return t.Keyspace }

func (s *source) migrate(c *cobra.Command, files []string) error {
	if len(s.hosts) == 0 || len(files) == 0 && s.config.declared == nil {
		return errors.New("--migrate needs a cluster (--hosts) and what is declared (files)")
	}
	if len(s.keyspaces) > 1 {
		return errors.New("--migrate compares what is declared: give one --keyspace, for tables that name none")
	}
	declared, err := s.known(files, true)
	if err != nil {
		return err
	}
	if len(declared.Statements()) == 0 {
		return s.nothing(files)
	}
	if i := slices.IndexFunc(declared.Tables, func(t schema.Table) bool { return t.Keyspace == "" }); i >= 0 {
		return fmt.Errorf("table %s names no keyspace: say which with --keyspace", declared.Tables[i].Name)
	}
	if i := slices.IndexFunc(declared.Types, func(t schema.Type) bool { return t.Keyspace == "" }); i >= 0 {
		return fmt.Errorf("type %s names no keyspace: say which with --keyspace", declared.Types[i].Name)
	}
	from, err := s.connect()
	if err != nil {
		return err
	}
	defer from.Close()
	ctx, cancel := context.WithTimeout(c.Context(), s.timeout)
	defer cancel()
	found, err := schema.Differences(ctx, from, declared)
	if err != nil {
		return err
	}
	breaking := schema.Breaking(found)
	head := ast.CommentLine(fmt.Sprintf("%d differences%s, of which %d matter.", len(found), in(declared), len(breaking)))
	if err := s.config.writeText(c, head+"\n"+schema.Migration(found)); err != nil {
		return err
	}
	if len(breaking) > 0 {
		return errFound
	}
	return nil
}
