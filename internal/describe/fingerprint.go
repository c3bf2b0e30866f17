package describe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/gocql/gocql"
)

// fingerprint is what processes that write t have to declare alike.
func fingerprintOf(s *layout.Set, t *layout.Table) string {
	var rules, buckets, sets []fingerprint.Clause
	var seen []int
	rule := func(i int) {
		c := &s.Columns[i]
		if c.Rule == layout.Immutable || s.Version >= 0 || slices.Contains(seen, i) { // all columns of a Versioned set may change
			return
		}
		seen = append(seen, i)
		r := fingerprint.Clause{Kind: fingerprint.SingleWriter, Words: []string{c.Name}}
		for _, v := range c.Domain {
			r.Kind, r.Words = fingerprint.OneOf, append(r.Words, domainText(v))
		}
		rules = append(rules, r)
	}
	for _, i := range t.Key {
		rule(i)
		d := s.Columns[i].Derived
		if d == nil {
			continue
		}
		for _, source := range d.Sources {
			rule(source)
		}
		buckets = append(buckets, fingerprint.Clause{Kind: fingerprint.Bucket, Words: append([]string{s.Columns[i].Name}, functions(s, d)...)})
	}
	names := func(kind fingerprint.Kind, there bool, names ...string) {
		if there {
			sets = append(sets, fingerprint.Clause{Kind: kind, Words: names})
		}
	}
	column := func(kind fingerprint.Kind, i int) {
		if i >= 0 {
			names(kind, true, s.Columns[i].Name)
		}
	}
	if t.Rotation != nil {
		names(fingerprint.Rotate, true, compact(t.Rotation.Versions[0].Bucket))
	}
	column(fingerprint.Versioned, s.Version)
	names(fingerprint.Compare, len(s.Compared) > 0, slices.Sorted(slices.Values(s.Names(s.Compared)))...)
	column(fingerprint.Mark, s.Mark)
	names(fingerprint.LocalSerial, s.LocalSerial)
	names(fingerprint.Transactional, s.Transactional)
	column(fingerprint.Stamp, s.Stamp)
	column(fingerprint.ExpiresAt, s.Expiry)
	names(fingerprint.SweepInserts, s.SweepInserts)
	if t == s.Tables[0] { // who writes a base row has to claim its keys
		unique := each.Of(s.Unique, func(u *layout.Table) string { return u.Name })
		slices.Sort(unique)
		names(fingerprint.Unique, unique != nil, unique...)
	}
	names(fingerprint.Owners, slices.Contains(s.Unique, t), s.Tables[0].Name)
	slices.SortFunc(sets, func(a, b fingerprint.Clause) int {
		return cmp.Compare(slices.Index(fingerprint.SetKinds, a.Kind), slices.Index(fingerprint.SetKinds, b.Kind))
	})
	return fingerprint.Of(slices.Concat(rules, buckets, sets))
}

func functions(s *layout.Set, d *layout.Derivation) (words []string) {
	for n, v := range d.Versions {
		switch {
		case n > 0 && d.Clock >= 0:
			words = append(words, fingerprint.From(time.UnixMilli(v.From).UTC().Format(time.RFC3339Nano), s.Columns[d.Clock].Name)...)
		case n > 0:
			words = append(words, fingerprint.Or)
		}
		words = append(words, compact(v.Bucket))
	}
	return words
}

// compact is the function without spaces.
func compact(b layout.Bucket) string { return strings.ReplaceAll(b.String(), " ", "") }

// domainText is a value of a domain as written in a fingerprint.
func domainText(v *cqltype.Value) string {
	switch v.Type.Kind() {
	case gocql.TypeVarchar, gocql.TypeText, gocql.TypeAscii:
		return fingerprint.Text(string(v.Data))
	case gocql.TypeBoolean:
		return strconv.FormatBool(v.Data[0] != 0)
	case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt:
		return strconv.FormatInt(cqltype.Number(v.Data), 10)
	}
	return fingerprint.Other(v.Data)
}
