package catalog

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

// durationUnit is a unit of a duration; they come in this order.
type durationUnit struct {
	symbol, name        string
	months, days, nanos int64 // one of them
}

var durationUnits = []durationUnit{
	{symbol: "y", name: "years", months: 12},
	{symbol: "mo", name: "months", months: 1},
	{symbol: "w", name: "weeks", days: 7},
	{symbol: "d", name: "days", days: 1},
	{symbol: "h", name: "hours", nanos: int64(time.Hour)},
	{symbol: "m", name: "minutes", nanos: int64(time.Minute)},
	{symbol: "s", name: "seconds", nanos: int64(time.Second)},
	{symbol: "ms", name: "milliseconds", nanos: int64(time.Millisecond)},
	{symbol: "us", name: "microseconds", nanos: int64(time.Microsecond)},
	{symbol: "ns", name: "nanoseconds", nanos: 1},
}

var (
	durationText        = regexp.MustCompile(`(?i)^(?:[0-9]+(?:y|mo|w|d|h|ms|m|s|us|µs|ns))+$`)
	durationPart        = regexp.MustCompile(`(?i)([0-9]+)(y|mo|w|d|h|ms|m|s|us|µs|ns)`)
	durationISO         = regexp.MustCompile(`^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)
	durationWeeks       = regexp.MustCompile(`^P(\d+)W$`)
	durationAlternative = regexp.MustCompile(`^P(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})$`)
)

// encodeDuration reads 1h30m and the forms of ISO 8601.
func encodeDuration(text string) ([]byte, error) {
	positive := strings.TrimPrefix(text, "-")
	var d durationSum
	err := d.read(positive)
	if err != nil {
		return nil, err
	}
	if !d.known {
		return nil, invalid("Unable to convert '%s' to a duration", text)
	}
	for _, part := range []struct {
		n    *big.Int
		name string
		max  int64
	}{{&d.months, "months", math.MaxInt32}, {&d.days, "days", math.MaxInt32}, {&d.nanos, "nanoseconds", math.MaxInt64}} {
		if part.n.Cmp(big.NewInt(part.max)) > 0 {
			// Cassandra names this limit of all three.
			return nil, invalid("Invalid duration. The total number of %s must be less or equal to %d", part.name, math.MaxInt32)
		}
		if positive != text {
			part.n.Neg(part.n)
		}
	}
	return gocql.Marshal(driver.NativeType(gocql.TypeDuration), gocql.Duration{
		Months: int32(d.months.Int64()), Days: int32(d.days.Int64()), Nanoseconds: d.nanos.Int64(),
	})
}

type durationSum struct {
	months, days, nanos big.Int
	last                int // the unit before, from 1
	known               bool
}

func (d *durationSum) read(text string) error {
	d.known = true
	if durationText.MatchString(text) {
		for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
			symbol := strings.ReplaceAll(strings.ToLower(part[2]), "µ", "u")
			for i, unit := range durationUnits {
				if unit.symbol != symbol {
					continue
				}
				if err := d.add(i, part[1]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	// The units of the groups of the other forms.
	for _, form := range []struct {
		text  *regexp.Regexp
		units []int
	}{{durationISO, []int{0, 1, 3, 4, 5, 6}}, {durationWeeks, []int{2}}, {durationAlternative, []int{0, 1, 3, 4, 5, 6}}} {
		if m := form.text.FindStringSubmatch(text); m != nil {
			for i, unit := range form.units {
				if m[i+1] == "" {
					continue
				}
				if err := d.add(unit, m[i+1]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	d.known = false
	return nil
}

func (d *durationSum) add(at int, digits string) error {
	unit := durationUnits[at]
	switch {
	case at+1 == d.last:
		return invalid("Invalid duration. The %s are specified multiple times", unit.name)
	case at+1 < d.last:
		return invalid("Invalid duration. The %s should be after %s", durationUnits[d.last-1].name, unit.name)
	}
	d.last = at + 1
	if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
		return invalid("For input string: \"%s\"", digits)
	}
	n, _ := new(big.Int).SetString(digits, 10)
	for _, part := range []struct {
		sum   *big.Int
		times int64
	}{{&d.months, unit.months}, {&d.days, unit.days}, {&d.nanos, unit.nanos}} {
		part.sum.Add(part.sum, new(big.Int).Mul(n, big.NewInt(part.times)))
	}
	return nil
}
