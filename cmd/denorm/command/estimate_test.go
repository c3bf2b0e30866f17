package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/testutil/anyschema"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
)

const (
	ordersOfCustomer = "testdata/estimate/orders_by_customer.cql"
	s16              = "../../../schema/testdata/systems/s16_order_delivery.cql"
	kinds            = "testdata/estimate/kinds.cql"
)

// estimated runs the command, and reads its JSON.
func estimated(t *testing.T, args ...string) (out outlookJSON) {
	t.Helper()
	text, _ := execute(t, false, append([]string{"estimate", "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
	return out
}

// days is a time of the JSON output.
func days(seconds *int64) float64 {
	if seconds == nil {
		return math.Inf(1)
	}
	return float64(*seconds) / schema.Day.Seconds()
}

// What the command writes, for people and for programs.
func TestEstimateOutput(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"orders_by_customer.text": {ordersOfCustomer},
		"orders_by_customer.json": {ordersOfCustomer, "--format", "json"},
		"s16.text":                {s16, "--volume", "order_delivery.orders_by_customer rows=1M/month elements.products=1"},
		"kinds.text":              {kinds},
		"kinds.json":              {kinds, "--format", "json"},
	} {
		out, errs := execute(t, false, append([]string{"estimate"}, args...)...)
		golden.Check(t, "estimate/"+name, out)
		if errs != "" {
			t.Errorf("%s: %s", name, errs)
		}
	}
}

// TestEstimateOrdersOfCustomer is the sum of the documents that the table is from: twelve columns and a million orders
// a month, "ten cells an order, so two billion cells after 17 years". It counts keys as cells, and not the bytes, which
// end the partition long before. docs/ref/schema.md has the output and these numbers.
func TestEstimateOrdersOfCustomer(t *testing.T) {
	t.Parallel()
	one := estimated(t, ordersOfCustomer).Tables[0]
	ten := estimated(t, ordersOfCustomer, "--volume", "orders_by_customer rows=1M/month elements.products=10").Tables[0]
	if one.Row.Cells != 9 || ten.Row.Cells != 18 {
		t.Errorf("an order has %v cells with one product, %v with ten", one.Row.Cells, ten.Row.Cells)
	}
	years := func(table plannedJSON) float64 { return days(table.Limits["maxCells"]) / 365 }
	for _, c := range []struct{ got, want float64 }{
		{years(one), 2000. / 9 / 12}, {years(ten), 2000. / 18 / 12}, {200. / 12, 16.7}, // ten cells: the documents' 17 years
	} {
		if math.Abs(c.got-c.want) > 0.05 {
			t.Errorf("two billion cells after %v years, want %v", c.got, c.want)
		}
	}
	if one, ten := days(one.Limits["badBytes"]), days(ten.Limits["badBytes"]); one > 14 || ten > 7 {
		t.Errorf("100 MB after %v days, with ten products after %v: want two weeks and one", one, ten)
	}

	page, err := os.ReadFile("../../../docs/ref/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	out, _ := execute(t, false, "estimate", ordersOfCustomer)
	for _, says := range []string{
		"$ denorm estimate orders_by_customer.cql\n" + out + "```",
		fmt.Sprintf("100 MB after %.0f days, with ten products per order after %.0f", days(one.Limits["badBytes"]), days(ten.Limits["badBytes"])),
	} {
		if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), strings.Join(strings.Fields(says), " ")) {
			t.Errorf("docs/ref/schema.md does not say\n%s", says)
		}
	}
}

// --volume replaces the note of its table alone, also where --keyspace says which table is meant.
func TestEstimateStated(t *testing.T) {
	t.Parallel()
	both := filepath.Join(t.TempDir(), "both.cql")
	text := "CREATE TABLE a (k int, c int, PRIMARY KEY (k, c));\nCREATE TABLE b (k int, c int, PRIMARY KEY (k, c));\n" +
		"-- denorm:volume a rows=1/day\n-- denorm:volume b rows=2/day\n"
	if err := os.WriteFile(both, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--volume", "a rows=30"}, {"--keyspace", "shop", "--volume", "a rows=30"}, {"--keyspace", "shop", "--volume", "shop.a rows=30"}} {
		tables := estimated(t, append(args, both)...).Tables
		if len(tables) != 2 || tables[0].Rows != 30 || tables[0].Per != nil || tables[1].Rows != 2 || *tables[1].Per != 86400 {
			t.Errorf("%v: %+v", args, tables)
		}
	}
	c := New(Declared(schema.Must(schema.Declare(schema.CQL(strings.Split(text, "--")[0]), schema.Expect("a", schema.Volume{Rows: 7})))))
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs([]string{"estimate"})
	if err := c.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), "stated: 7 rows in") || !strings.Contains(out.String(), "No volume is stated of b:") {
		t.Errorf("of a declaration: %v\n%s", err, &out)
	}
	c.SetArgs([]string{"estimate", both})
	if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "table a has two volumes, the declared one and "+both+":3") {
		t.Errorf("declared and stated: %v", err)
	}
}

func TestEstimateErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const table = "CREATE TABLE shop.t (k int, c int, v text, PRIMARY KEY (k, c));\n"
	good := file("good.cql", table)
	nowhere := filepath.Join(folder, "nowhere.cql") // flags are looked at before anything is read
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "name a CQL file, or a cluster with --hosts"},
		{[]string{nowhere}, "no such file"},
		{[]string{file("empty.cql", "")}, "no table in "},
		{[]string{file("queries.cql", "SELECT * FROM t WHERE k = ?;")}, "name a CQL file with CREATE TABLE"},
		{[]string{nowhere, "--format", "yaml"}, `unknown --format "yaml": text or json`},
		{[]string{nowhere, "--color", "never"}, "unknown flag: --color"},
		{[]string{nowhere, "--sizes"}, "unknown flag: --sizes"},
		{[]string{nowhere, "--timeout", "1s"}, "--timeout needs --hosts"},
		{[]string{nowhere, "--keyspace", "a,b"}, "several keyspaces need --hosts"},
		{[]string{nowhere, "--volume", ""}, `--volume "": name one table and its rows, as in 'orders_by_user rows=2000/year'`},
		{[]string{nowhere, "--volume", "shop.t"}, `--volume "shop.t": name one table and its rows`},
		{[]string{nowhere, "--volume", "rows=7"}, `--volume "rows=7": name one table`},
		{[]string{nowhere, "--volume", "shop.t rows=7\nDROP TABLE t"}, "name one table and its rows"},
		{[]string{nowhere, "--volume", "shop.t rows=0"}, `--volume "shop.t rows=0": volume: rows=... is missing, or 0`},
		{[]string{nowhere, "--volume", "shop.t rows=-5"}, `volume: rows=-5: want a number, not "-5"`},
		{[]string{nowhere, "--volume", "shop.t rows=inf/day"}, `want a number, not "inf"`},
		{[]string{nowhere, "--volume", "shop.t rows=nan"}, `want a number, not "nan"`},
		{[]string{nowhere, "--volume", "shop.t rows=1e400"}, `want a number, not "1e400"`},
		{[]string{nowhere, "--volume", "shop.t rows=5/fortnight"}, `unknown time "fortnight"`},
		{[]string{nowhere, "--volume", "shop.t rows=5 wdth.v=3"}, "volume: wdth.v=3: unknown field"},
		{[]string{nowhere, "--volume", "shop.t rows=5", "--volume", "shop.t rows=6"}, "--volume states table shop.t twice: leave out one"},
		{[]string{nowhere, "--keyspace", "shop", "--volume", "shop.t rows=5", "--volume", "t rows=6"}, "--volume states table shop.t twice"},
		{[]string{good, "--volume", "shop.s rows=5"}, "--volume: there is no table shop.s: did you mean shop.t?"},
		{[]string{good, "--volume", "t rows=5"}, "--volume: there is no table t: did you mean shop.t?"},
		{[]string{good, "--volume", "shop.t rows=5 width.body=3"}, "--volume: estimate: table shop.t has no column body"},
		{[]string{file("column.cql", table+"-- denorm:volume shop.t rows=5 width.body=3")}, "column.cql:2: estimate: table shop.t has no column body"},
		{[]string{file("twice.cql", table+"-- denorm:volume shop.t rows=5\n-- denorm:volume shop.t rows=6")}, "table shop.t has two volumes, "},
		{[]string{file("zero.cql", table+"-- denorm:volume shop.t rows=0")}, "zero.cql: line 2: volume: rows=... is missing, or 0"},
		{[]string{"--hosts", "127.0.0.1:1", "--timeout", "100ms"}, "connect to [127.0.0.1:1]"},
	} {
		command := New()
		var out bytes.Buffer
		command.SetOut(&out)
		command.SetErr(io.Discard)
		command.SetArgs(append([]string{"estimate"}, c.args...))
		err := command.ExecuteContext(t.Context())
		if ExitCode(err) != ExitError || !strings.Contains(err.Error(), c.says) || out.Len() > 0 {
			t.Errorf("%q: %v, want %s\n%s", c.args, err, c.says, &out)
		}
	}
}

// The volume of a table of a cluster is what is stated; of others it is what a node reports, and nothing where it reports nothing.
func TestEstimateOfCluster(t *testing.T) {
	t.Parallel()
	x := newShopOfOrders(t, cassandratest.Listen(t, 1))
	want := func(says string, code int, args ...string) {
		t.Helper()
		out, errs, got := x.runOn(t.Context(), io.Discard, append(args, "estimate", "--hosts", x.host)...)
		if got != code || !strings.Contains(out+errs, says) {
			t.Errorf("%v: exit code %d: %s%s\nwant %s", args, got, out, errs, says)
		}
	}
	want("No volume is stated, and none is reported by the node, of shop.orders_by_status, shop.orders_by_user:", ExitFine, "--keyspace=shop")
	want("shop.orders_by_user  PRIMARY KEY (user_id, order_id), stated: 2,000 rows a year in a partition\n", ExitFine,
		"--keyspace=shop", "--volume=orders_by_user rows=2000/year")
	measured := 0
	for _, r := range x.cluster.Journal(cassandratest.Text("FROM system.size_estimates")) {
		if len(r.Statements[0].Values) > 0 { // no PREPARE
			measured++
		}
	}
	if measured != 3+2 {
		t.Errorf("%d tables are measured, want all three, and then those two whose volume is not stated", measured)
	}
	want("there is no table orders_by_user: did you mean shop.orders_by_user?", ExitError, "--volume=orders_by_user rows=2000/year")
	want("the cluster has no keyspace shops", ExitError, "--keyspace=shops")
}

// What a node reports is said to be measured, and of now.
func TestEstimateMeasured(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse("", "CREATE TABLE small (k uuid, c int, v text, PRIMARY KEY (k, c)); CREATE TABLE large (k uuid, c int, v text, PRIMARY KEY (k, c));"+
		"CREATE TABLE wide (k uuid PRIMARY KEY, v text)")
	if err != nil {
		t.Fatal(err)
	}
	for i, bytes := range []struct{ mean, largest float64 }{{20e3, 1 << 20}, {5e6, 40e6}, {4e3, 60e6}} {
		v, ok := estimate.Live{Table: s.Tables[i].ID, MeanBytes: bytes.mean, LargestBytes: bytes.largest}.Volume(s)
		if !ok {
			t.Fatal(s.Tables[i])
		}
		s.Volumes = append(s.Volumes, v)
	}
	o, err := look(s, new(source))
	if err != nil {
		t.Fatal(err)
	}
	for format, write := range map[string]func(io.Writer, *outlook) error{"text": writeOutlook, "json": writeOutlookJSON} {
		var out bytes.Buffer
		if err := write(&out, o); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "estimate/measured."+format, out.String())
	}
}

var noNumber = regexp.MustCompile(`(?i)\b(nan|[+-]?inf)\b|[ (]-[0-9]|": -`)

// Whatever the tables and the numbers that are stated of them, the output has none that is none, is without end, or below 0.
func TestEstimateOfAnything(t *testing.T) {
	t.Parallel()
	numbers := []float64{1e-320, 0.001, 1, 7, 20e3, 1e6, 1e12, 1e100, math.MaxFloat64}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func() float64 { return numbers[r.IntN(len(numbers))] }
		s := anyschema.Generate(r, "k")
		if seed%2 == 0 {
			s = anyschema.Hostile(r, "k", s)
		}
		for _, table := range s.Tables {
			v := schema.Volume{Table: table.ID, Rows: pick(), Largest: max(1, pick()), Width: map[string]float64{}, Elements: map[string]float64{}}
			v.Per = []time.Duration{0, time.Second, schema.Year}[r.IntN(3)]
			v.Growth = pick() * float64(r.IntN(2))
			for _, c := range table.Columns {
				if r.IntN(3) == 0 {
					v.Width[c.Name], v.Elements[c.Name] = pick(), pick()
				}
			}
			s.Volumes = append(s.Volumes, v)
		}
		o, err := look(s, new(source))
		if err != nil {
			t.Fatal(err)
		}
		var text, document bytes.Buffer
		if err := errors.Join(writeOutlook(&text, o), writeOutlookJSON(&document, o)); err != nil {
			t.Fatal(err)
		}
		if shown := printable.Lines(text.String()); shown != text.String() || strings.Contains(shown, "\nDROP") || strings.Contains(shown, "\ndenorm:") || !json.Valid(document.Bytes()) {
			t.Fatalf("seed %d: %q\n%s", seed, &text, &document)
		}
		for _, out := range []string{text.String(), document.String()} {
			if bad := noNumber.FindString(out); bad != "" {
				t.Fatalf("seed %d: %q in\n%s", seed, bad, out)
			}
		}
	}
}
