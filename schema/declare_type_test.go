package schema_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

type street struct {
	Street string   `cql:"street"`
	Tags   []string `cql:"tags"`
}

type streetAndZip struct {
	Street string   `cql:"street"`
	Tags   []string `cql:"tags"`
	Zip    string   `cql:"zip"`
}

type tagsAndStreet struct {
	Tags   []string `cql:"tags"`
	Street string   `cql:"street"`
}

type resident[T any] struct {
	ID   int
	Home T
}

// homes is a set whose tables have a column of type address.
func homes[T any](name, keyspace string) schema.Declaration {
	return schema.Sets(tables.Must(tables.New[resident[T]](name,
		tables.Table{Name: name + "_by_id", Keyspace: keyspace, PartKey: []string{"id"}}, tables.UserType[T]("address"))))
}

// Two declarations of one type with other fields are an error: one of them was left out without a word, and values of
// the other lost fields.
func TestTypeDeclaredTwice(t *testing.T) {
	t.Parallel()
	const do = ": declare the same ones, or another name"
	const one = "(street text, tags frozen<list<text>>)"
	text := schema.CQL("CREATE TYPE k.address (street text, tags list<text>)")
	for name, of := range map[string]struct {
		parts []schema.Declaration
		want  string // "" for no error
	}{
		"same":      {[]schema.Declaration{homes[street]("user", "k"), homes[street]("shop", "k"), text}, ""},
		"keyspaces": {[]schema.Declaration{homes[street]("user", "k"), homes[streetAndZip]("shop", "other")}, ""},
		"more fields": {
			[]schema.Declaration{homes[street]("user", "k"), homes[streetAndZip]("shop", "k")},
			"type k.address is declared with different fields, by set user as " + one + ", and by set shop as " +
				"(street text, tags frozen<list<text>>, zip text)" + do,
		},
		"fewer fields": {
			[]schema.Declaration{homes[streetAndZip]("shop", "k"), homes[street]("user", "k")},
			"type k.address is declared with different fields, by set shop as (street text, tags frozen<list<text>>, zip text), " +
				"and by set user as " + one + do,
		},
		"order": {
			[]schema.Declaration{homes[street]("user", "k"), homes[tagsAndStreet]("shop", "k")},
			"by set shop as (tags frozen<list<text>>, street text)" + do,
		},
		"text after set": {
			[]schema.Declaration{homes[streetAndZip]("shop", "k"), text},
			"zip text), and by CQL as (street text, tags list<text>)" + do,
		},
		"set after text": {
			[]schema.Declaration{text, homes[streetAndZip]("shop", "k")},
			"by CQL as (street text, tags list<text>), and by set shop as ",
		},
	} {
		s, err := schema.Declare(of.parts...)
		switch {
		case of.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case of.want != "" && (err == nil || !strings.Contains(err.Error(), of.want)):
			t.Errorf("%s: %v, want %s", name, err, of.want)
		case of.want == "" && len(s.Types) > 2:
			t.Errorf("%s: %v", name, s.Types)
		}
	}
}
