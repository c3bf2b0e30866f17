package repair

import (
	"slices"

	"github.com/denorm-go/denorm/internal/tablerow"
)

// Claim is what a table of unique keys has under a key, or a query table of another entity.
type Claim struct {
	Table, Key string // the key is encoded
	Owner      string // the encoded base key of who has it, empty if nobody has
	Own        bool   // that is the entity of the look
	At         int64  // when it was claimed, in microseconds
	Held       bool   // it is another entity, whose base row has the key
}

// claims compares the base row with the claims of its unique keys.
func (l Look) claims() (out []Finding) {
	if l.Base == nil {
		return nil
	}
	for _, t := range l.Unique {
		key, there := l.Base.KeyIn(t)
		if !there {
			continue
		}
		f := Finding{Class: Unclaimed, Table: t.Name(), Key: key, BaseAt: l.Base.At}
		if c, found := l.claim(t.Name(), key); found {
			switch f.RowAt = c.At; {
			case c.Own:
				continue
			case c.Held:
				f.Class = Shared
			}
		}
		out = append(out, f)
	}
	return out
}

func (l Look) claim(table, key string) (Claim, bool) {
	i := slices.IndexFunc(l.Claims, func(c Claim) bool { return c.Table == table && c.Key == key })
	if i < 0 {
		return Claim{}, false
	}
	return l.Claims[i], true
}

// shares says whether another base row has the ID of this one, by a claim of a query table.
func (l Look) shares(t tablerow.Layout) bool {
	if l.Base == nil {
		return false
	}
	key, there := l.Base.KeyIn(t)
	c, _ := l.claim(t.Name(), key)
	return there && c.Held
}

// Holder is the entity that has the key of a finding that is [Shared], encoded.
func (l Look) Holder(f Finding) string {
	c, _ := l.claim(f.Table, f.Key)
	return c.Owner
}

// Unheld are the claims of the entity to keys that its base row does not have. They are no findings: they are what a
// write leaves that is in flight, or whose client has died, and who wants such a key takes it.
func (l Look) Unheld() (out []Claim) {
	for _, c := range l.Claims {
		if !c.Own {
			continue
		}
		held := l.Base != nil && slices.ContainsFunc(l.Unique, func(t tablerow.Layout) bool {
			key, there := l.Base.KeyIn(t)
			return there && t.Name() == c.Table && key == c.Key
		})
		if !held {
			out = append(out, c)
		}
	}
	return out
}
