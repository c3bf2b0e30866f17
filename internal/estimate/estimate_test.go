package estimate_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/schema"
)

func reckon(t *testing.T, text string) *estimate.Estimate {
	t.Helper()
	s, err := schema.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := estimate.New(s, s.Volumes[0])
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }

// TestMillionOrdersAMonth is the customer of system S16: a million orders a month, all in one partition. Every order is
// a cell for each column that is not in the key, so the two billion are reached after 2000 / (cells of an order)
// months.
func TestMillionOrdersAMonth(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../schema/testdata/systems/s16_order_delivery.cql")
	if err != nil {
		t.Fatal(err)
	}
	const volume = "\n-- denorm:volume order_delivery.orders_by_customer rows=1M/month"
	const documented = "CREATE TABLE o (customer_id uuid, order_id uuid, submission_time timestamp, products map<uuid, " +
		"int>, status text, " +
		"delivery_address_key text, currency text, item_subtotal double, postage_packing_fee double, vat double, " +
		"promotional_discount double, " +
		"remarks text, PRIMARY KEY (customer_id, order_id, submission_time));\n-- denorm:volume o rows=1M/month"
	cells := func(s estimate.Size) bool { return s.Cells >= estimate.MaxCells }
	for name, c := range map[string]struct {
		text   string
		cells  float64 // of an order
		months float64
	}{
		// Twelve columns, three of them the key. The documents that the system is of count ten cells an order, and so 200
		// months, or 17 years: keys are no cells, and every element of a map is one.
		"as documented, one product":  {documented + " elements.products=1", 9, 2000. / 9},
		"as documented, ten products": {documented + " elements.products=10", 18, 2000. / 18},
		// the slot; and ten products, if nothing is said
		"three columns more": {string(text) + volume, 21, 2000. / 21},
		"half of them without a slot": {
			string(text) + volume + " filled.start_time=0.5 filled.delivery_team_id=0.5", 20,
			100,
		},
		"half as many": {
			string(text) + "\n-- denorm:volume order_delivery.orders_by_customer rows=500k/month",
			21, 4000. / 21,
		},
		"a customer four times as large": {
			string(text) + "\n-- denorm:volume order_delivery.orders_by_customer rows=250k/month largest=4", 21, 2000. / 21,
		},
		"products as cells, 16 each": {
			"CREATE TABLE o (c uuid, id uuid, products map<uuid, int>, total decimal, a int, b int, d int, PRIMARY KEY (c, " +
				"id));\n" +
				"-- denorm:volume o rows=1M/month elements.products=16", 20, 100,
		},
	} {
		e := reckon(t, c.text)
		if e.Row().Cells != c.cells {
			t.Errorf("%s: an order has %v cells, want %v", name, e.Row().Cells, c.cells)
		}
		after, ok := e.When(cells)
		if got := float64(after) / float64(schema.Month); !ok || !near(got, c.months, 1e-6) {
			t.Errorf("%s: two billion cells after %.4f months, want %v", name, got, c.months)
		}
		if at := e.At(schema.Month); !near(at.Cells, 2e9/c.months, 1e-6) {
			t.Errorf("%s: %v cells after a month", name, at.Cells)
		}
	}
	// Long before, its bytes are too many.
	if after, ok := reckon(t, documented).When(func(s estimate.Size) bool { return s.Bytes >= estimate.BadBytes }); !ok ||
		after > 7*24*time.Hour {
		t.Errorf("%v bytes after %s, want that within a week", estimate.BadBytes, after)
	}
	// Split by the month, as in system S17, a partition never comes near them.
	split := reckon(t, "CREATE TABLE o (c uuid, month text, id uuid, total decimal, PRIMARY KEY ((c, month), id));\n"+
		"-- denorm:volume o rows=1M/month")
	if after, ok := split.When(cells); ok {
		t.Errorf("two billion cells in a month, after %s", after)
	}
	if at := split.At(50 * schema.Year); !near(at.Rows, 1e6, 1e-6) {
		t.Errorf("%v rows in a month", at.Rows)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	e := reckon(t, "CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c));\n-- denorm:volume t rows=100/day "+
		"growth=100%/year")
	// A rate that doubles in a year brings 365 * 100 / ln 2 rows in the first, and twice that in the second.
	first := 36500 / math.Ln2
	if got := e.At(schema.Year).Rows; !near(got, first, 1e-6) {
		t.Errorf("%v rows in the first year, want %v", got, first)
	}
	if got := e.At(2 * schema.Year).Rows; !near(got, 3*first, 1e-6) {
		t.Errorf("%v rows in two years, want %v", got, 3*first)
	}
	after, ok := e.When(func(s estimate.Size) bool { return s.Rows >= estimate.GoodRows })
	if want := math.Log2(1+estimate.GoodRows*math.Ln2/36500) * float64(schema.Year); !ok ||
		!near(float64(after), want, 1e-5) {
		t.Errorf("the limit is met after %s, want %s", after, time.Duration(want))
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		rows       float64
	}{
		{
			"day by type", "CREATE TABLE t (k int, d date, c int, PRIMARY KEY ((k, d), c));\n-- denorm:volume t rows=24/hour",
			576,
		},
		{"hour by name", "CREATE TABLE t (k int, hour text, c int, PRIMARY KEY ((k, hour), c));\n-- denorm:volume t " +
			"rows=24/hour", 24},
		{"stated", "CREATE TABLE t (k int, bucket int, c int, PRIMARY KEY ((k, bucket), c));\n-- denorm:volume t " +
			"rows=24/hour window=2days", 1152},
		{"TTL", "CREATE TABLE t (k int, c int, PRIMARY KEY (k, c)) WITH default_time_to_live = 3600;\n-- denorm:volume t " +
			"rows=24/hour", 24},
		{"TTL in a day", "CREATE TABLE t (k int, d date, c int, PRIMARY KEY ((k, d), c)) WITH default_time_to_live = " +
			"3600;\n-- denorm:volume t rows=24/hour", 24},
		{"a number", "CREATE TABLE t (k int, c int, PRIMARY KEY (k, c));\n-- denorm:volume t rows=7", 7},
		{"largest", "CREATE TABLE t (k int, c int, PRIMARY KEY (k, c));\n-- denorm:volume t rows=7 largest=3", 21},
	} {
		e := reckon(t, c.text)
		if got := e.At(10 * schema.Year).Rows; !near(got, c.rows, 1e-9) {
			t.Errorf("%s: %v rows, want %v", c.name, got, c.rows)
		}
	}
}

// The bucket function of a declared column says what a partition covers, whatever the column is called.
func TestWindowOfDerived(t *testing.T) {
	t.Parallel()
	for derived, keep := range map[string]time.Duration{
		"hour(c)": time.Hour, "day(c)": schema.Day, "month(c)": schema.Month, "every(168h0m0s, c)": 7 * schema.Day,
		"hash(4, c)": 0,
	} {
		id := schema.ID{Name: "t"}
		s := &schema.Schema{Tables: []schema.Table{{ID: id, Columns: []schema.Column{
			{Name: "k", Type: "int", Kind: schema.PartitionKey},
			{Name: "bucket", Type: "text", Kind: schema.PartitionKey, Derived: derived},
			{Name: "c", Type: "timestamp", Kind: schema.Clustering},
		}}}}
		e, err := estimate.New(s, schema.Volume{Table: id, Rows: 1, Per: schema.Day})
		if err != nil || e.Keep() != keep {
			t.Errorf("%s: %v, %v", derived, e.Keep(), err)
		}
	}
}

// However large what is stated is, sizes are numbers from 0 on.
func TestNumbersWithoutEnd(t *testing.T) {
	t.Parallel()
	extremes := []float64{1e-320, 1e-9, 1, 1e9, 1e300, math.MaxFloat64}
	with := append([]float64{0}, extremes...)
	s, err := schema.Parse("test", "CREATE TABLE t (k text, c text, st text static, v text, m map<text, text>, f "+
		"frozen<list<frozen<list<text>>>>, "+
		"PRIMARY KEY (k, c))")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	pick := func(of []float64) float64 { return of[r.IntN(len(of))] }
	for range 20_000 {
		v := schema.Volume{
			Table: schema.ID{Name: "t"}, Rows: pick(with), Per: time.Duration(r.IntN(2)) * time.Second,
			Largest: max(1, pick(with)), Growth: pick(with),
			Window: time.Duration(r.IntN(2)) * schema.Day, Width: map[string]float64{
				"k": pick(with), "c": pick(with),
				"m": pick(with), "f": pick(with),
			},
			Elements: map[string]float64{"m": pick(with), "f": pick(with)}, Filled: map[string]float64{
				"m": float64(r.IntN(2)),
				"f": float64(r.IntN(2)),
			},
		}
		e, err := estimate.New(s, v)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []estimate.Size{
			e.Row(), e.At(0), e.At(schema.Day), e.At(100 * schema.Year),
			e.Mean(schema.Year),
		} {
			for _, n := range []float64{size.Rows, size.Cells, size.Bytes} {
				if !(n >= 0 && n <= math.MaxFloat64) {
					t.Fatalf("%+v of %+v", size, v)
				}
			}
		}
		if age, _ := e.When(func(s estimate.Size) bool { return s.Bytes >= estimate.BadBytes }); age < 0 {
			t.Fatalf("%v of %+v", age, v)
		}
	}
}

// What a cluster reports becomes a volume that comes to what it reports.
func TestLiveVolume(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse("test", "CREATE TABLE t (k uuid, c int, v text, PRIMARY KEY (k, c))")
	if err != nil {
		t.Fatal(err)
	}
	v, ok := estimate.Live{Table: s.Tables[0].ID, MeanBytes: 5e6, LargestBytes: 40e6}.Volume(s)
	if !ok || !v.Measured {
		t.Fatalf("%+v", v)
	}
	e, err := estimate.New(s, v)
	if err != nil {
		t.Fatal(err)
	}
	if mean, largest := e.Mean(schema.Year).Bytes, e.At(schema.Year).Bytes; !near(mean, 5e6, 1e-9) ||
		!near(largest, 40e6, 1e-9) {
		t.Errorf("mean %v, largest %v", mean, largest)
	}
	if _, ok := (estimate.Live{Table: s.Tables[0].ID}).Volume(s); ok {
		t.Error("a volume of nothing")
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"CREATE TABLE t (k int PRIMARY KEY);\n-- denorm:volume other rows=7",
		"CREATE TABLE t (k int PRIMARY KEY);\n-- denorm:volume t rows=7 width.note=4",
	} {
		s, err := schema.Parse("test", text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := estimate.New(s, s.Volumes[0]); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// TestLayout counts the bytes of a row by hand: uuid key, timestamp clustering, an int and a text of 10.
func TestLayout(t *testing.T) {
	t.Parallel()
	e := reckon(t, "CREATE TABLE t (k uuid, c timestamp, a int, b text, PRIMARY KEY (k, c));\n-- denorm:volume t rows=1 "+
		"width.b=10")
	// flags, clustering header, clustering, size, previous size, timestamp, int cell, text cell with length
	const row = 1 + 1 + 8 + 1 + 1 + 5 + (1 + 4) + (1 + 1 + 10)
	const partition = 2 + 16 + 12 + 1
	if got := e.Row().Bytes; got != row {
		t.Errorf("a row of %v bytes, want %v", got, row)
	}
	if got := e.Of(3).Bytes; got != partition+3*row {
		t.Errorf("three rows of %v bytes, want %v", got, partition+3*row)
	}
	if got := e.Rows(partition + 3*row); got != 3 {
		t.Errorf("%v rows back", got)
	}
}
