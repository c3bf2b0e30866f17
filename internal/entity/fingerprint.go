package entity

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/gocql/gocql"
)

// fingerprint is what processes that write t have to declare alike.
func (s *Set) fingerprint(t *table) string {
	var rules, buckets, sets []fingerprint.Clause
	var seen []int
	rule := func(i int) {
		c := &s.columns[i]
		if c.rule == immutable || s.version >= 0 || slices.Contains(seen, i) { // all columns of a Versioned set may change
			return
		}
		seen = append(seen, i)
		r := fingerprint.Clause{Kind: fingerprint.SingleWriter, Words: []string{c.name}}
		for _, v := range c.domain {
			r.Kind, r.Words = fingerprint.OneOf, append(r.Words, domainText(v))
		}
		rules = append(rules, r)
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
		buckets = append(buckets, fingerprint.Clause{Kind: fingerprint.Bucket, Words: append([]string{s.columns[i].name}, s.functions(d)...)})
	}
	names := func(kind fingerprint.Kind, there bool, names ...string) {
		if there {
			sets = append(sets, fingerprint.Clause{Kind: kind, Words: names})
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
	slices.SortFunc(sets, func(a, b fingerprint.Clause) int {
		return cmp.Compare(slices.Index(fingerprint.SetKinds, a.Kind), slices.Index(fingerprint.SetKinds, b.Kind))
	})
	return fingerprint.Of(slices.Concat(rules, buckets, sets))
}

func (s *Set) functions(d *derivation) (words []string) {
	for n, v := range d.versions {
		switch {
		case n > 0 && d.clock >= 0:
			words = append(words, fingerprint.From(time.UnixMilli(v.from).UTC().Format(time.RFC3339Nano), s.columns[d.clock].name)...)
		case n > 0:
			words = append(words, fingerprint.Or)
		}
		words = append(words, v.bucket.compact())
	}
	return words
}

// compact is the function without spaces.
func (b Bucket) compact() string { return strings.ReplaceAll(b.String(), " ", "") }

// domainText is a value of a domain as written in a fingerprint.
func domainText(v *cqltype.Value) string {
	switch v.Type.Kind() {
	case gocql.TypeVarchar, gocql.TypeText, gocql.TypeAscii:
		return fingerprint.Text(string(v.Data))
	case gocql.TypeBoolean:
		return strconv.FormatBool(v.Data[0] != 0)
	case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt:
		return strconv.FormatInt(number(v.Data), 10)
	}
	return fingerprint.Other(v.Data)
}
