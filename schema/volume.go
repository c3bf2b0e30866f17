package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Volume is the expected amount of data in a table.
type Volume struct {
	Table ID
	// Rows is how many rows the average partition gets in each Per. If Per is 0, it is how many rows the partition has in
	// all.
	Rows float64
	Per  time.Duration
	// Largest is the largest partition's rows divided by the average, for example 20. 0 means 1: all alike. Values between
	// 0 and 1 are not valid.
	Largest float64
	// Growth is by how much the rate grows in a year, for example 0.5 for 50 %.
	Growth float64
	// Window is the time span of a partition, if a bucket limits it. 0 means that the span follows from the names and
	// types of the key columns, or has no end.
	Window time.Duration
	// Width is the mean size in bytes of the values of a column of variable size, or of one element of a collection.
	Width map[string]float64
	// Elements is the mean number of elements of a collection.
	Elements map[string]float64
	// Filled is the share of rows in which a column has a value, from 0 to 1. Default, for a column not named: 1.
	Filled map[string]float64
	// Measured says that the volume was measured in a cluster, and is not an expectation.
	Measured bool
	At       Position
}

// Units of time for stating volumes.
const (
	Day   = 24 * time.Hour
	Month = 365 * Day / 12
	Year  = 365 * Day
)

// longest is the longest time that a partition can be stated to cover.
const longest = 100 * Year

var periods = map[string]time.Duration{
	"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": Day, "week": 7 * Day, "month": Month, "year": Year,
}

// parseVolume reads the fields of a volume, for example rows=1000000/month largest=20 growth=50%/year window=1month
// width.note=200 elements.products=12 filled.note=0.1.
func parseVolume(fields []string) (Volume, error) {
	v := Volume{Width: map[string]float64{}, Elements: map[string]float64{}, Filled: map[string]float64{}}
	given := make(map[string]bool)
	for _, f := range fields {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			return v, fmt.Errorf("volume: want name=value, not %q", f)
		}
		if given[key] {
			return v, fmt.Errorf("volume: %s is stated twice", key)
		}
		given[key] = true
		var err error
		kind, column, _ := strings.Cut(key, ".")
		of := map[string]map[string]float64{"width": v.Width, "elements": v.Elements, "filled": v.Filled}[kind]
		switch {
		case key == "rows":
			rows, per, rate := strings.Cut(value, "/")
			v.Rows, err = quantity(rows)
			if rate && err == nil {
				if v.Per, ok = periods[per]; !ok {
					err = fmt.Errorf("unknown time %q", per)
				}
			}
		case key == "largest":
			v.Largest, err = quantity(value)
		case key == "growth":
			v.Growth, err = quantity(strings.TrimSuffix(value, "/year"))
		case key == "window":
			v.Window, err = period(value)
		case of != nil && column != "":
			of[column], err = quantity(value)
		default:
			err = errors.New("unknown field")
		}
		if err != nil {
			return v, fmt.Errorf("volume: %s: %w", f, err)
		}
	}
	if v.Rows == 0 {
		return v, errors.New("volume: rows=... is missing, or 0")
	}
	if err := v.numbers(); err != nil {
		return v, fmt.Errorf("volume: %w", err)
	}
	return v, nil
}

// numbers rejects a volume with numbers that cannot be.
func (v *Volume) numbers() error {
	switch {
	case v.Rows < 0 || !finite(v.Rows):
		return fmt.Errorf("rows %v: give how many an average partition has, or gets in the time that is stated", v.Rows)
	case v.Largest != 0 && v.Largest < 1 || !finite(v.Largest):
		return fmt.Errorf("largest %v: give how many times the average the largest partition has, 1 or more", v.Largest)
	case v.Growth < 0 || !finite(v.Growth):
		return fmt.Errorf("growth %v: give by how much the rate grows in a year, such as 0.5 for half as much again", v.Growth)
	}
	for _, of := range []struct {
		field  string
		values map[string]float64
		most   float64
		rule   string
	}{
		{"width", v.Width, math.MaxFloat64, "give bytes, 0 or more"},
		{"elements", v.Elements, math.MaxFloat64, "give a number of elements, 0 or more"},
		{"filled", v.Filled, 1, "give a share from 0 to 1, such as 0.9 for 90 %"},
	} {
		for _, name := range slices.Sorted(maps.Keys(of.values)) {
			if n := of.values[name]; n < 0 || n > of.most || math.IsNaN(n) {
				return fmt.Errorf("%s of %s %v: %s", of.field, name, n, of.rule)
			}
		}
	}
	return nil
}

// quantity reads a number that is not negative, also with a %, or k, M or G behind it.
func quantity(s string) (float64, error) {
	factor := 1.0
	for suffix, f := range map[string]float64{"%": 0.01, "k": 1e3, "M": 1e6, "G": 1e9} {
		if cut, ok := strings.CutSuffix(s, suffix); ok {
			s, factor = cut, f
			break
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || !finite(n*factor) {
		return 0, fmt.Errorf("want a number, not %q", s)
	}
	return n * factor, nil
}

func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

// period reads a number and a unit, for example 30day.
func period(s string) (time.Duration, error) {
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i < 0 {
		return 0, fmt.Errorf("want a number and a unit such as 7day, not %q", s)
	}
	unit, ok := periods[strings.TrimSuffix(s[i:], "s")]
	n, err := strconv.ParseFloat(cmp.Or(s[:i], "1"), 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("want a number and a unit such as 7day, not %q", s)
	}
	if n *= float64(unit); n < float64(time.Second) || n > float64(longest) {
		return 0, fmt.Errorf("want a time from a second to 100 years, not %q", s)
	}
	return time.Duration(n), nil
}
