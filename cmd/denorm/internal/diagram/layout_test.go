package diagram_test

import (
	"encoding/xml"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/testutil/anyschema"
	"github.com/denorm-go/denorm/schema"
)

// area is a rectangle of a picture.
type area struct {
	left, top, right, bottom float64
	what, class              string
}

func (a area) meets(b area) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

func (a area) within(b area) bool {
	return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom
}

var step = regexp.MustCompile(`([MHV])([0-9.]+) ?([0-9.]+)?`)

// areas gives the size of a picture, its texts, its boxes, and the lines of its arrows. A letter of a fixed font of 12
// pixels is at most 7.23 wide, one of another alphabet at most 12.
func areas(t *testing.T, svg string) (page area, texts, boxes, lines []area) {
	t.Helper()
	var all struct {
		Width  float64 `xml:"width,attr"`
		Height float64 `xml:"height,attr"`
		Rects  []struct {
			Class  string `xml:"class,attr"`
			X      string `xml:"x,attr"`
			Y      string `xml:"y,attr"`
			Width  string `xml:"width,attr"`
			Height string `xml:"height,attr"`
		} `xml:"rect"`
		Texts []struct {
			Class string  `xml:"class,attr"`
			X     float64 `xml:"x,attr"`
			Y     float64 `xml:"y,attr"`
			Text  string  `xml:",chardata"`
		} `xml:"text"`
		Paths []struct {
			Class string `xml:"class,attr"`
			D     string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(svg), &all); err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, r := range all.Rects {
		if r.Class == "box" || r.Class == "guessed" {
			x, y := number(r.X), number(r.Y)
			boxes = append(boxes, area{x, y, x + number(r.Width), y + number(r.Height), "box", r.Class})
		}
	}
	for _, x := range all.Texts {
		w := 0.0
		for _, r := range x.Text {
			if w += 7.23; r >= 0x300 {
				w += 4.77
			}
		}
		texts = append(texts, area{x.X, x.Y - 9, x.X + w, x.Y + 3, x.Text, x.Class})
	}
	for _, p := range all.Paths {
		if !strings.HasPrefix(p.Class, "edge") {
			continue
		}
		var x, y float64
		for _, m := range step.FindAllStringSubmatch(p.D, -1) {
			fromX, fromY := x, y
			switch m[1] {
			case "M":
				x, y = number(m[2]), number(m[3])
				continue
			case "H":
				x = number(m[2])
			case "V":
				y = number(m[2])
			}
			lines = append(lines, area{min(x, fromX), min(y, fromY) - 0.1, max(x, fromX), max(y, fromY) + 0.1, "line", p.Class})
		}
	}
	return area{0, 0, all.Width, all.Height, "page", ""}, texts, boxes, lines
}

// faults says what of a picture cannot be read: texts that reach out of it or out of their box, or lie on each other;
// boxes that overlap; and lines through texts or through boxes.
func faults(t *testing.T, svg string) []string {
	t.Helper()
	page, texts, boxes, lines := areas(t, svg)
	var out []string
	fault := func(a, b area, what string) {
		out = append(out, fmt.Sprintf("%s %q %s %s %q", a.what, a.class, what, b.what, b.class))
	}
	for i, a := range texts {
		if !a.within(page) {
			fault(a, page, "reaches out of")
		}
		for _, b := range texts[:i] {
			if a.meets(b) {
				fault(a, b, "lies on")
			}
		}
		for _, b := range boxes {
			if a.meets(b) && !a.within(b) {
				fault(a, b, "reaches out of")
			}
		}
		for _, b := range lines {
			if a.meets(b) {
				fault(b, a, "goes through")
			}
		}
	}
	for i, a := range boxes {
		if !a.within(page) {
			fault(a, page, "reaches out of")
		}
		for _, b := range boxes[:i] {
			if a.meets(b) && a.class == b.class {
				fault(a, b, "lies on")
			}
		}
		for _, b := range lines { // those between its columns and its queries end at its borders
			if a.class == "box" && a.meets(b) && !(b.left == a.left && b.right == a.right) {
				fault(b, a, "goes through")
			}
		}
	}
	return out
}

// In no picture text is cut off or covered.
func TestLayout(t *testing.T) {
	t.Parallel()
	pictures := map[string]*schema.Schema{"everything": everything(t), "nothing": {}}
	files, err := filepath.Glob("../../../../schema/testdata/systems/*.cql")
	if err != nil || len(files) != 17 {
		t.Fatalf("%d systems, %v", len(files), err)
	}
	for _, file := range files {
		pictures[file] = system(t, strings.TrimSuffix(filepath.Base(file), ".cql"))
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := anyschema.Hostile(r, "ks", anyschema.Generate(r, "ks"))
		e := schema.Entity{Name: anyschema.HostileText(r, 0), Moves: []string{s.Tables[0].Columns[0].Name}}
		for i := range s.Tables {
			id, columns := s.Tables[i].ID, s.Tables[i].Columns
			if r.IntN(2) == 0 {
				e.Tables = append(e.Tables, id)
			}
			s.Queries = append(s.Queries, schema.Query{
				Verb: "SELECT", Table: id, Where: []ast.Relation{{Operator: "=", Columns: []string{columns[len(columns)-1].Name}}},
			})
		}
		s.Entities = []schema.Entity{e}
		pictures[fmt.Sprint("seed ", seed)] = s
	}
	for name, s := range pictures {
		if found := faults(t, diagram.SVG(s)); len(found) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(found[:min(len(found), 10)], "\n"))
		}
	}
}

func everything(t *testing.T) *schema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/everything.cql")
	if err != nil {
		t.Fatal(err)
	}
	return schema.Must(schema.Parse("everything", string(text)))
}

// What tells entities apart is marked in each of their tables.
func TestID(t *testing.T) {
	t.Parallel()
	s := schema.Must(schema.Parse("f", "CREATE TABLE t (a int, id int, PRIMARY KEY (a, id)); "+
		"CREATE TABLE u (b int, id int, a int, PRIMARY KEY (b, id)); -- denorm:entity e t u id=id"))
	if svg := diagram.SVG(s); strings.Count(svg, "clustering ASC, id") != 2 {
		t.Error(svg)
	}
}

// The legend has what the picture has, and nothing else.
func TestLegend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cql, want string }{
		{"CREATE TABLE t (a int PRIMARY KEY)", "table of no declared entity; column of the primary key"},
		{
			"CREATE TABLE t (a int PRIMARY KEY); SELECT * FROM t; CREATE INDEX ON t (a); CREATE CUSTOM INDEX i ON t (a) USING 'sai'",
			"table of no declared entity; column of the primary key; what a SELECT reads; Cassandra's first kind of index; storage-attached index",
		},
		{
			"CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE u (b int PRIMARY KEY); -- denorm:entity e t u moves=b",
			"base table of an entity; another table of the entity; a change of these columns moves the row; column of the primary key",
		},
		{
			"CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE t_by_b (b int PRIMARY KEY)",
			"base table of an entity; another table of the entity; guessed from names, not declared; column of the primary key",
		},
		{
			"CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE t_by_b (b int PRIMARY KEY); -- denorm:entity e t t_by_b",
			"base table of an entity; another table of the entity; a change stays in its row; column of the primary key",
		},
		{
			"CREATE TABLE t (a int PRIMARY KEY); CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE a IS NOT NULL PRIMARY KEY (a)",
			"materialized view; table of no declared entity; Cassandra fills the view from its table; column of the primary key",
		},
	} {
		svg := diagram.SVG(schema.Must(schema.Parse("f", c.cql)))
		_, legend, ok := strings.Cut(svg, `class="label">`)
		if !ok {
			t.Fatalf("%s: no legend", c.cql)
		}
		var got []string
		for _, m := range regexp.MustCompile(`class="label[a-z ]*">([^<]*)<`).FindAllStringSubmatch(`class="label">`+legend, -1) {
			got = append(got, strings.ReplaceAll(m[1], "&#39;", "'"))
		}
		got = slices.DeleteFunc(got, func(s string) bool { return s == "view" })
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.cql, s, c.want)
		}
	}
}

// A query is told in a few words, without the values that it is for.
func TestQueriesInWords(t *testing.T) {
	t.Parallel()
	const table = `CREATE TABLE t (a int, b text, c timestamp, d int, m map<text, text>, v text, PRIMARY KEY ((a, b), c, d))
		WITH CLUSTERING ORDER BY (c DESC, d ASC);
		CREATE TABLE u (a int, n int, at time, PRIMARY KEY (a, n, at));
		CREATE TABLE w (a int, n int, PRIMARY KEY (a, n)) WITH CLUSTERING ORDER BY (n DESC);`
	drawn := regexp.MustCompile(`>query</text>\n<text [^>]*class="">([^<]*)<`) // the text beside the word, not in the legend
	for query, want := range map[string]string{
		"SELECT * FROM t":                                                                "all rows",
		"SELECT count(*) FROM t":                                                         "count(*): all rows",
		"SELECT * FROM t WHERE a = 17 AND b = 'secret'":                                  "by a, b, newest first",
		"SELECT * FROM t WHERE a = ? AND b = ? ORDER BY c ASC LIMIT ?":                   "by a, b, oldest first, limit ?",
		"SELECT v FROM t WHERE a = ? AND b = ? AND c = ? AND d = ?":                      "v by a, b, c, d",
		"SELECT v, c FROM t WHERE a = ? AND b IN (?, ?) LIMIT 5":                         "v, c by a, any of several b, limit 5",
		"SELECT v, c, d FROM t WHERE a = ? AND b = ? AND c = ?":                          "by a, b, c",
		"SELECT max(c), writetime(v) FROM t WHERE a = ? AND b = ?":                       "max(c), writetime(v) by a, b, newest first",
		"SELECT v, a + d FROM t WHERE a = ? AND b = ? AND c < ? AND c >= ?":              "by a, b, range of c, newest first",
		"SELECT * FROM t WHERE a = ? AND b = ? AND (c, d) > (?, ?)":                      "by a, b, range of c, d, newest first",
		"SELECT DISTINCT a, b FROM t WHERE token(a, b) > ? LIMIT 9":                      "distinct a, b: range of tokens, limit 9",
		"SELECT * FROM t WHERE a = ? AND b = ? PER PARTITION LIMIT 2":                    "by a, b, newest first, limit 2 per partition",
		"SELECT * FROM t WHERE m['k'] = ? AND v = ? ALLOW FILTERING":                     "ALLOW FILTERING, by v, an entry of m",
		"SELECT * FROM t WHERE m CONTAINS ?":                                             "m CONTAINS ?",
		"SELECT * FROM u WHERE a = ? ORDER BY n DESC":                                    "by a, by descending n",
		"SELECT * FROM u WHERE a = ? AND n = ? ORDER BY n DESC, at DESC":                 "by a, n, latest first",
		"SELECT * FROM u WHERE a = ?":                                                    "by a",
		"SELECT * FROM w WHERE a = ?":                                                    "by a",
		"INSERT INTO u (a, n, at) VALUES (1, 2, '03:04:05')":                             "",
		"SELECT * FROM t WHERE " + strings.Repeat("v = ? AND m = ? AND ", 9) + "a > ?":   "by v, m, range of a",
		"SELECT * FROM t WHERE a = ? AND b = ? AND " + strings.Repeat("x", 300) + " = ?": "by a, b, " + strings.Repeat("x", 54) + "…",
	} {
		svg := diagram.SVG(schema.Must(schema.Parse("f", table+query)))
		got := ""
		if m := drawn.FindStringSubmatch(svg); m != nil {
			got = html.UnescapeString(m[1])
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
	many := table + strings.Repeat("SELECT * FROM u;", 3)
	for i := range 20 {
		many += fmt.Sprintf("SELECT * FROM u LIMIT %d;", i+1)
	}
	svg := diagram.SVG(schema.Must(schema.Parse("f", many)))
	if queries := drawn.FindAllStringSubmatch(svg, -1); len(queries) != 9 || strings.Count(svg, ">all rows<") != 1 || queries[8][1] != "and 13 more" {
		t.Error(svg)
	}
}
