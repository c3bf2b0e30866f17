package initialize_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/initialize"
	"github.com/denorm-go/denorm/schema/lint"
)

// proposed matches the key in a fix.
var proposed = regexp.MustCompile(`^a query table with (PRIMARY KEY \(.*\))$`)

// A table with the proposed key serves the query, as lint has it, which prepares it too. Any key that serves keeps the
// columns of the key, or rows would replace each other.
func TestProposedKeysServe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, where, want string }{
		{"(a, b), c, d", "a = ? AND b = ? AND d > ?", "PRIMARY KEY ((a, b), d, c)"},
		{"(a, b), c", "a = ? AND c < ?", "PRIMARY KEY (a, c, b)"},
		{"a", "b = ? ORDER BY c DESC", "PRIMARY KEY (b, c, a)"},
		{"a", "b = ? AND c IN ? AND d >= ?", "PRIMARY KEY (b, c, d, a)"},
		{"a", "b = ? AND c > ? AND d > ?", ""},
		{"a, b", "a = ? AND m['x'] = ?", ""},
		{"a", "b = ? AND m CONTAINS ?", ""},
		{"a", "b = ? AND token(a) > ?", ""},
		{"a", "b = ? AND expr(x, 'y')", ""},
		{"a", "b = ? AND c LIKE ?", ""},
		{"a", "b = ? AND c != ?", ""},
		{"a", "b = ? AND c IS NOT NULL", ""},
		{"a", "b = ? AND (c, d) = (?, ?)", "PRIMARY KEY (b, c, d, a)"},
		{"a", "b = ? AND c = ? ORDER BY c, d", "PRIMARY KEY (b, c, d, a)"},
	} {
		if got := key(t, test.key, test.where); got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.key, test.where, got, test.want)
		}
	}
	random, n := rand.New(rand.NewPCG(1, 2)), 0
	columns := strings.Split("abcdef", "")
	for range 500 {
		random.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		size := 1 + random.IntN(4)
		part := 1 + random.IntN(size)
		of := "(" + strings.Join(columns[:part], ", ") + ")"
		if size > part {
			of += ", " + strings.Join(columns[part:size], ", ")
		}
		var where, order []string
		for _, c := range columns {
			switch random.IntN(10) {
			case 0, 1, 2:
				where = append(where, c+" = ?")
			case 3:
				where = append(where, c+" IN ?")
			case 4:
				where = append(where, c+" > ?")
			case 5:
				order = append(order, c+[]string{"", " DESC"}[random.IntN(2)])
			}
		}
		if random.IntN(10) == 0 {
			where = append(where, "("+columns[0]+", "+columns[5]+") > (?, ?)")
		}
		if len(where) == 0 {
			continue
		}
		text := strings.Join(where, " AND ")
		if len(order) > 0 && random.IntN(2) == 0 {
			text += " ORDER BY " + strings.Join(order, ", ")
		}
		if random.IntN(5) == 0 {
			text += " ALLOW FILTERING"
		}
		if key(t, of, text) != "" {
			n++
		}
	}
	if n < 75 {
		t.Errorf("%d proposals only", n)
	}
}

// A query is read from another table only if that serves it.
func TestOtherTablesServe(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]string{"b = ? AND c > ?": "read it from u", "b = ? AND d > ?": "a query table with PRIMARY KEY (b, d, a)"} {
		found := initialize.New(review(t, "", "CREATE TABLE t (a int PRIMARY KEY, b int, c int, d int); CREATE TABLE u (a int, b int, c int, d int, "+
			"PRIMARY KEY (b, c, d, a)); SELECT * FROM t WHERE "+where+";"), nil).Findings
		if len(found) != 1 || found[0].Fix != want {
			t.Errorf("%s: %v, want %s", where, found, want)
		}
	}
}

// key gives the key that is proposed for a query of a table, and checks that it serves.
func key(t *testing.T, of, where string) (proposal string) {
	t.Helper()
	text := func(key string) string {
		return "CREATE TABLE t (a int, b int, c int, d int, e int, f int, m map<text, int>, " + key + ");\nSELECT * FROM t WHERE " + where + ";"
	}
	for _, f := range initialize.New(review(t, "", text("PRIMARY KEY ("+of+")")), nil).Findings {
		match := proposed.FindStringSubmatch(f.Fix)
		if match == nil {
			continue
		}
		proposal = match[1]
		for _, c := range strings.FieldsFunc(of, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
			if !slices.Contains(strings.FieldsFunc(proposal, func(r rune) bool { return strings.ContainsRune("(), ", r) }), c) {
				t.Errorf("%s: %s lacks %s", of, proposal, c)
			}
		}
		served := strings.TrimSuffix(text(proposal), " ALLOW FILTERING;")
		for _, again := range lint.Check(review(t, "", served)) {
			if strings.HasPrefix(again.Code, "DN50") && again.Severity == lint.Error {
				t.Errorf("%s, %s: %s does not serve: %s", of, where, proposal, again)
			}
		}
	}
	return proposal
}
