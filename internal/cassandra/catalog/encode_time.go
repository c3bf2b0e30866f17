package catalog

import (
	"encoding/binary"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)
	dateText    = regexp.MustCompile(`^(-?[0-9]{4}|[+-][0-9]{5,9})-([0-9]{2})-([0-9]{2})$`)
	timeText    = regexp.MustCompile(`^([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,9}))?$`)
	// stampText has date, hour, minute, second, fraction, zone.
	stampText = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})` +
		`(?:[T ]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{0,9}))?)?)?` +
		`(?: ?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?$`)
)

// day is the time at which a day begins, if there is such a day.
func day(year, month, date string) (time.Time, bool) {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(date)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return t, t.Year() == y && int(t.Month()) == m && t.Day() == d
}

// encodeDate reads a day, or a number of days that begins 2^31 days before 1970.
func encodeDate(text string) ([]byte, error) {
	if wholeNumber.MatchString(text) {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, invalid("Unable to make unsigned int (for date) from: '%s'", text)
		}
		return binary.BigEndian.AppendUint32(nil, uint32(n)), nil
	}
	refused := invalid("Unable to coerce '%s' to a formatted date (long)", text)
	m := dateText.FindStringSubmatch(text)
	if m == nil {
		return nil, refused
	}
	t, ok := day(m[1], m[2], m[3])
	days := math.Floor(float64(t.Unix()) / 86400)
	if !ok || days < math.MinInt32 || days > math.MaxInt32 {
		return nil, refused
	}
	return binary.BigEndian.AppendUint32(nil, uint32(int64(days)+1<<31)), nil
}

// clock is the time since midnight, if there is such a time.
func clock(hour, minute, second, fraction string) (time.Duration, bool) {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	s, _ := strconv.Atoi(second)
	n, _ := strconv.Atoi((fraction + "000000000")[:9])
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(n),
		h < 24 && m < 60 && s < 60
}

// encodeTime reads a time of the day, or nanoseconds since midnight.
func encodeTime(text string) ([]byte, error) {
	if wholeNumber.MatchString(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n >= int64(24*time.Hour) {
			return nil, invalid("Unable to make long (for time) from: '%s'", text)
		}
		return binary.BigEndian.AppendUint64(nil, uint64(n)), nil
	}
	if m := timeText.FindStringSubmatch(text); m != nil {
		if d, ok := clock(m[1], m[2], m[3], m[4]); ok {
			return binary.BigEndian.AppendUint64(nil, uint64(d)), nil
		}
	}
	return nil, invalid("(TimeType) Unable to coerce '%s' to a formatted time (long)", text)
}

// encodeTimestamp reads a time, of UTC if it has no zone, or milliseconds since 1970.
func encodeTimestamp(text string) ([]byte, error) {
	switch {
	case text == "":
		return []byte{}, nil
	case strings.EqualFold(text, "now"):
		return nil, unsupported("the timestamp 'now'")
	case wholeNumber.MatchString(text):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, invalid("Unable to make long (for date) from: '%s'", text)
		}
		return binary.BigEndian.AppendUint64(nil, uint64(n)), nil
	}
	refused := invalid("Unable to parse a date/time from '%s'", text)
	m := stampText.FindStringSubmatch(text)
	if m == nil {
		return nil, refused
	}
	first, ok := day(m[1], m[2], "1")
	date, _ := strconv.Atoi(m[3])
	if !ok || date < 1 || date > 31 {
		return nil, refused
	}
	t := first.AddDate(0, 0, date-1)
	if t.Month() != first.Month() { // such a day is the last one of its month
		t = first.AddDate(0, 1, -1)
	}
	since, ok := clock(m[4], m[5], m[6], m[7])
	east, known := zone(m[8])
	if !known || !ok && since != 24*time.Hour {
		return nil, refused
	}
	return binary.BigEndian.AppendUint64(nil, uint64(t.Add(since-east).UnixMilli())), nil
}

// zone is how much a zone is ahead of UTC.
func zone(text string) (time.Duration, bool) {
	if text == "" || text[0] != '+' && text[0] != '-' {
		return 0, true
	}
	digits := strings.ReplaceAll(text[1:], ":", "")
	east, ok := clock(digits[:2], digits[2:], "", "")
	if text[0] == '-' {
		east = -east
	}
	return east, ok
}
