package catalog

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Keyspace is a keyspace. It never changes: a definition makes another.
type Keyspace struct {
	Name        string
	Replication map[string]string // with the full name of the class, as system_schema.keyspaces has it
	Durable     bool
	Types       *cqltype.Types // the user-defined ones

	types   []userType // what Types are made of, in order of their creation
	tables  map[string]*Table
	views   map[string]*Table
	indexes []index
}

// datacenter is the only one that a cluster has.
const datacenter = "dc1"

const (
	locator         = "org.apache.cassandra.locator."
	simpleStrategy  = locator + "SimpleStrategy"
	networkStrategy = locator + "NetworkTopologyStrategy"
	localStrategy   = locator + "LocalStrategy"

	factorOption = "replication_factor"
)

// Factor is the replication factor in the datacenter dc1, the only one. Each node has its own rows of a keyspace of the
// system.
func (k *Keyspace) Factor() int {
	option := factorOption
	switch k.Replication["class"] {
	case localStrategy:
		return 1
	case networkStrategy:
		option = datacenter
	}
	factor, _ := strconv.Atoi(k.Replication[option])
	return factor
}

// Tables are the tables of the keyspace by name, without materialized views.
func (k *Keyspace) Tables() []*Table { return sorted(k.tables) }

// clone is a copy to change.
func (k *Keyspace) clone() *Keyspace {
	c := *k
	c.tables, c.views, c.indexes = maps.Clone(k.tables), maps.Clone(k.views), slices.Clone(k.indexes)
	return &c
}

// existing is the keyspace that a definition of something in it is for.
func (s *Schema) existing(name string) (*Keyspace, error) {
	k := s.keyspaces[name]
	if k == nil {
		return nil, invalid("Keyspace '%s' doesn't exist", name)
	}
	return k, nil
}

// systems are the keyspaces that a node has to itself.
var systems = []string{"system", "system_schema", virtual}

// virtual is the keyspace of tables that are not real ones; system_schema does not have it.
const virtual = "system_views"

// distributed are the keyspaces of the system that real nodes share, which can be altered there. There are none here.
var distributed = []string{"system_auth", "system_distributed", "system_traces"}

func guard(keyspace string) error {
	if slices.Contains(systems, keyspace) {
		return unauthorized("%s keyspace is not user-modifiable.", keyspace)
	}
	return nil
}

var nameText = regexp.MustCompile(`^\w+$`)

// maxName is the length of the longest name of a keyspace.
const maxName = 48

func (s *Schema) defineKeyspace(stmt *ast.CreateKeyspace) (*Change, error) {
	if stmt.Alter {
		return s.alterKeyspace(stmt)
	}
	name := stmt.Keyspace
	switch {
	case slices.Contains(systems, strings.ToLower(name)):
		return nil, invalid("System keyspace '%s' is not user-modifiable", name)
	case slices.Contains(distributed, strings.ToLower(name)):
		return nil, unsupported("keyspace %s", name)
	case !nameText.MatchString(name):
		return nil, invalid("Keyspace name must not be empty and must contain alphanumeric or underscore characters only "+
			"(got \"%s\")",
			name)
	case len(name) > maxName:
		return nil, invalid("Keyspace name must not be more than %d characters long (got %d characters for \"%s\")",
			maxName, len(name), name)
	case stmt.Replication == nil:
		return nil, invalid("Missing mandatory option 'replication'")
	}
	if s.keyspaces[name] != nil {
		if stmt.IfNotExists {
			return nil, nil
		}
		return nil, &Error{
			Code: gocql.ErrCodeAlreadyExists, Keyspace: name, Message: "Cannot add existing keyspace \"" + name + "\"",
		}
	}
	replication, err := replicate(name, stmt.Replication, nil)
	if err != nil {
		return nil, err
	}
	s.keyspaces[name] = &Keyspace{
		Name: name, Replication: replication, Durable: stmt.Durable, Types: &cqltype.Types{},
		tables: make(map[string]*Table), views: make(map[string]*Table),
	}
	return &Change{Type: created, Target: "KEYSPACE", Keyspace: name}, nil
}

func (s *Schema) alterKeyspace(stmt *ast.CreateKeyspace) (*Change, error) {
	if err := guard(stmt.Keyspace); err != nil {
		return nil, err
	}
	old := s.keyspaces[stmt.Keyspace]
	if old == nil {
		if stmt.IfNotExists {
			return nil, nil
		}
		return nil, invalid("Keyspace '%s' doesn't exist", stmt.Keyspace)
	}
	k := old.clone()
	if stmt.Replication != nil {
		replication, err := replicate(k.Name, stmt.Replication, old.Replication)
		if err != nil {
			return nil, err
		}
		k.Replication = replication
	}
	if !stmt.KeepDurable {
		k.Durable = stmt.Durable
	}
	s.keyspaces[k.Name] = k
	return &Change{Type: updated, Target: "KEYSPACE", Keyspace: k.Name}, nil
}

func (s *Schema) dropKeyspace(stmt *ast.Drop) (*Change, error) {
	name := stmt.Name.Name
	if err := guard(name); err != nil {
		return nil, err
	}
	if s.keyspaces[name] == nil {
		if stmt.IfExists {
			return nil, nil
		}
		return nil, invalid("Keyspace '%s' doesn't exist", name)
	}
	delete(s.keyspaces, name)
	return &Change{Type: dropped, Target: "KEYSPACE", Keyspace: name}, nil
}

// replicate checks the options of REPLICATION and gives them as Cassandra keeps them. previous are those of a keyspace
// that is altered, which count where the new ones leave something open.
func replicate(keyspace string, options, previous map[string]string) (map[string]string, error) {
	class := options["class"]
	switch {
	case class == "":
		return nil, config("Missing replication strategy class")
	case !strings.Contains(class, "."):
		class = locator + class
	}
	options = maps.Clone(options)
	delete(options, "class")
	if err := checkFactors(options); err != nil {
		return nil, err
	}
	own := factorOption
	switch class {
	case simpleStrategy:
		absent(options, factorOption, cmp.Or(previous[factorOption], "1"))
	case networkStrategy:
		own = datacenter
		networkOptions(options, previous)
	case localStrategy:
		return nil, invalid("Unable to use given strategy class: LocalStrategy is reserved for internal use.")
	default:
		return nil, config("Unable to find replication strategy class '%s'", class)
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if name != own {
			return nil, config("Unrecognized strategy option {%s} passed to %s for keyspace %s",
				name, strings.TrimPrefix(class, locator), keyspace)
		}
	}
	if len(options) == 0 {
		return nil, config("Configuration for at least one datacenter must be present")
	}
	options["class"] = class
	return options, nil
}

// networkOptions makes those of NetworkTopologyStrategy out of what a statement says. A replication_factor is for
// datacenters that are not named, now or before, and a datacenter with 0 replicas is left out.
func networkOptions(options, previous map[string]string) {
	factor, given := options[factorOption]
	delete(options, factorOption)
	switch {
	case given:
		absent(options, datacenter, previous[datacenter])
	case len(options) == 0:
		factor = previous[factorOption]
	}
	if factor != "" {
		absent(options, datacenter, factor)
	}
	maps.DeleteFunc(options, func(_, factor string) bool { return factor == "0" })
}

// absent sets an option that is not there, if there is a value for it.
func absent(options map[string]string, name, value string) {
	if _, ok := options[name]; !ok && value != "" {
		options[name] = value
	}
}

// checkFactors checks that the values of options are numbers of replicas, and gives these one spelling.
func checkFactors(options map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		value := options[name]
		if strings.Contains(value, "/") {
			return unsupported("transient replicas")
		}
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return config("For input string: \"%s\"", value)
		}
		if n < 0 {
			return config("Replication factor must be non-negative, found %s", value)
		}
		options[name] = strconv.FormatInt(n, 10)
	}
	return nil
}
