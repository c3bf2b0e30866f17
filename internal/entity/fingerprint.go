package entity

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/gocql/gocql"
)

// fingerprint is what processes that write t have to declare alike.
func (s *Set) fingerprint(t *table) fingerprint.Fingerprint {
	var f fingerprint.Fingerprint
	var seen []int
	rule := func(i int) {
		c := &s.columns[i]
		if c.rule == immutable || s.version >= 0 || slices.Contains(seen, i) { // all columns of a Versioned set may change
			return
		}
		seen = append(seen, i)
		r := fingerprint.Rule{Column: c.name}
		for _, v := range c.domain {
			r.Values = append(r.Values, v.domainText())
		}
		f.Rules = append(f.Rules, r)
	}
	for _, i := range t.key {
		rule(i)
		d := s.columns[i].derived
		if d == nil {
			continue
		}
		for _, source := range d.sources {
			rule(source)
		}
		f.Buckets = append(f.Buckets, fingerprint.Bucket{Column: s.columns[i].name, Functions: s.functions(d)})
	}
	names := func(kind fingerprint.Kind, there bool, names ...string) {
		if there {
			f.Sets = append(f.Sets, fingerprint.Names{Kind: kind, Names: names})
		}
	}
	column := func(kind fingerprint.Kind, i int) {
		if i >= 0 {
			names(kind, true, s.columns[i].name)
		}
	}
	if t.rotation != nil {
		names(fingerprint.Rotate, true, t.rotation.versions[0].bucket.compact())
	}
	column(fingerprint.Versioned, s.version)
	names(fingerprint.Compare, len(s.compare) > 0, slices.Sorted(slices.Values(s.names(s.compare)))...)
	column(fingerprint.Mark, s.mark)
	names(fingerprint.LocalSerial, s.localSerial)
	names(fingerprint.Transactional, s.transacted)
	column(fingerprint.Stamp, s.stamp)
	column(fingerprint.ExpiresAt, s.expiry)
	names(fingerprint.SweepInserts, s.sweepInserts)
	if t == s.tables[0] { // who writes a base row has to claim its keys
		var unique []string
		for _, u := range s.unique {
			unique = append(unique, u.name)
		}
		slices.Sort(unique)
		names(fingerprint.Unique, unique != nil, unique...)
	}
	names(fingerprint.Owners, slices.Contains(s.unique, t), s.tables[0].name)
	return f
}

func (s *Set) functions(d *derivation) []fingerprint.Function {
	var out []fingerprint.Function
	for n, v := range d.versions {
		fn := fingerprint.Function{Text: v.bucket.compact()}
		if n > 0 && d.clock >= 0 {
			fn.From, fn.By = time.UnixMilli(v.from).UTC().Format(time.RFC3339Nano), s.columns[d.clock].name
		}
		out = append(out, fn)
	}
	return out
}

// compact is the function without spaces.
func (b Bucket) compact() string { return strings.ReplaceAll(b.String(), " ", "") }

// domainText is a value of a domain as written in a fingerprint.
func (v *Value) domainText() string {
	switch v.typ.Kind() {
	case gocql.TypeVarchar, gocql.TypeText, gocql.TypeAscii:
		return fingerprint.Text(string(v.data))
	case gocql.TypeBoolean:
		return strconv.FormatBool(v.data[0] != 0)
	case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt:
		return strconv.FormatInt(number(v.data), 10)
	}
	return fingerprint.Other(v.data)
}
