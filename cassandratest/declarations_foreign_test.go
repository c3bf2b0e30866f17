package cassandratest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
)

// The comment of a live table may be anybody's. What cannot be read is a note, and nothing of it comes out.
func TestForeignFingerprintsAreNotes(t *testing.T) {
	t.Parallel()
	for live, want := range map[string]string{
		"[denorm:2 whatever comes]":                          "of version 2",
		"[denorm:1 spin reviews; bucket slot hash(4,id)]":    "", // a contradiction all the same
		"[denorm:1 spin reviews]":                            "says of spin what this version of the library does not know",
		"[denorm:1 one-of status open]":                      "cannot be read",
		"[denorm:1 versioned a; versioned b]":                "cannot be read",
		"[denorm:99999999]":                                  "cannot be read",
		"[denorm:1 ;]":                                       "cannot be read",
		`[denorm:1 one-of status "a]`:                        "cannot be read",
		"[denorm:1 \x1b[31mred]":                             "has no fingerprint",
		"[denorm:1 a\n]":                                     "has no fingerprint",
		"[denorm:1 " + strings.Repeat("x ", 1<<16) + "]":     "has no fingerprint",
		"[denorm:1 spin " + strings.Repeat("x", 1<<15) + "]": "says of spin",
	} {
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			set := reviews()
			c.Create(mallOf(set).Statements()...)
			c.Create("ALTER TABLE mall.reviews WITH comment = '" + live + "'")
			p := startProcess(t, c)
			if want == "" {
				p.refused(set, "the table was made for hash(4, id)")
				return
			}
			statements, text := p.passes(set)
			if !strings.Contains(text, want) || strings.ContainsAny(text, "\x1b") {
				t.Errorf("%.60q: %q", live, text)
			}
			if add := statements["reviews"]; add != "" {
				c.Create(add)
				p.clean(set)
			}
		})
	}
}

// The names of a live table may be anybody's, too. A terminal obeys nothing in what Validate says of them.
func TestLiveNamesAreShownAsText(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := reviews()
		c.Create(slices.DeleteFunc(mallOf(set).Statements(), func(s string) bool { return strings.Contains(s, "TABLE mall.reviews (") })...)
		c.Create("CREATE TABLE mall.reviews (review_id uuid, \"x\x1b]0;owned\x07\ny\" text, status text, email text, written timestamp, " +
			"version timeuuid, updated_at bigint, PRIMARY KEY (review_id, \"x\x1b]0;owned\x07\ny\"))")
		err := schema.Validate(t.Context(), startProcess(t, c).session, schema.Sets(set))
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07\u009b") || !strings.Contains(err.Error(), `column "x\x1b]0;owned\x07\ny": is a clustering column that is not declared`) {
			t.Errorf("%q", err)
		}
	})
}

// A live comment may be anybody's, and cqlsh takes /* and */ for a comment inside of quotes too. So no statement has
// them, or characters that cannot be printed. The error says what to do instead.
func TestStatementsHideNothingInCqlsh(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		"orders /* by":   "behind its comment, which has /* or */",
		"*/ DROP TABLE":  "behind its comment, which has /* or */",
		"red \x1b[31m":   "behind its comment, which has characters that cannot be printed",
		"half / of * it": "",
	} {
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			set := reviews()
			made := mallOf(set, schema.With("mall.reviews", schema.Options{Comment: comment}))
			for i := range made.Tables {
				made.Tables[i].Fingerprint = ""
			}
			c.Create(made.Statements()...)
			statements, text := startProcess(t, c).passes(set)
			if add := statements["reviews"]; (add == "") != (want != "") || want == "" && !strings.Contains(add, "comment = 'half / of * it [denorm:1") {
				t.Errorf("%q: %s", comment, add)
			}
			if !strings.Contains(text, want) || strings.Contains(strings.ReplaceAll(text, "has /* or */", ""), "/*") {
				t.Errorf("%q: %s", comment, text)
			}
		})
	}
}
