package schema

import (
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/each"
)

// declareType adds a type, unless it is declared already. With other fields that is an error: there can be only one of them, and values of the
// other would lose fields, or be rejected.
func (s *Schema) declareType(t Type) error {
	known := named(s.Types, t.ID)
	if known == nil {
		s.Types = append(s.Types, t)
		return nil
	}
	if len(compareFields(nil, "", "", known.Fields, t.Fields, true)) == 0 {
		if known.set == nil {
			known.set = t.set
		}
		return nil
	}
	return fmt.Errorf("type %s is declared with different fields, %s as %s, and %s as %s: declare the same fields in the same order in both, "+
		"or give one of the types another name", t.ID, known.by(), known.fieldsText(), t.by(), t.fieldsText())
}

// by says what declares a type.
func (t *Type) by() string {
	if t.set == nil {
		return "by CQL"
	}
	return "by set " + describe.Of(t.set.Internal()).Entity
}

func (t *Type) fieldsText() string {
	return "(" + strings.Join(each.Of(t.Fields, Field.text), ", ") + ")"
}

func (f Field) text() string { return cql.Quote(f.Name) + " " + f.Type }
