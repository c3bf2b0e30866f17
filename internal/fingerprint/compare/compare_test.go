package compare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
	"github.com/denorm-go/denorm/internal/testutil/cost"
)

var full = compare.Fingerprint{
	Rules: []compare.Rule{
		{Column: "status", Values: []string{
			fingerprint.Text(`a "b"; [denorm:1] it's \ /* -- */`), fingerprint.Text("größe\n\xff"),
			fingerprint.Text(strings.Repeat("long", 50)), "-12", "true",
			fingerprint.Other([]byte{0xca, 0xfe}), fingerprint.Other(make([]byte, 500)), fingerprint.Other(nil),
		}},
		{Column: "city"},
	},
	Buckets: []compare.Bucket{
		{Column: "slot", Functions: []compare.Function{
			{Text: "every(24h0m0s,ts)"}, {Text: "hash(4,a,b)", From: "2024-03-01T00:00:00.5Z", By: "ts"},
		}},
		{Column: "part", Functions: []compare.Function{{Text: "hash(4,id)"}, {Text: "hash(40,id)"}}},
	},
	Sets: []fingerprint.Clause{
		{Kind: fingerprint.Rotate, Words: []string{"month(ts)"}},
		{Kind: fingerprint.Versioned, Words: []string{"version"}},
		{Kind: fingerprint.LocalSerial},
		{Kind: fingerprint.Transactional},
		{Kind: fingerprint.Unique, Words: []string{"by_email", "by_phone"}},
		{Kind: fingerprint.Owners, Words: []string{"users"}},
		{Kind: fingerprint.ID, Words: []string{"run_id"}},
		{Kind: fingerprint.Stamp, Words: []string{"updated_at"}},
		{Kind: fingerprint.ExpiresAt, Words: []string{"ends"}},
		{Kind: fingerprint.SweepInserts},
	},
}

// What is written is read back as it was, and is one line of printable ASCII without the marks of a comment.
func TestTextIsReadBack(t *testing.T) {
	t.Parallel()
	text := full.String()
	const want = `[denorm:1 one-of status "a \"b\"; \x5bdenorm:1] it's \\ /\x2a -- \x2a/" "gr\u00f6\u00dfe\n\xff" ` +
		`"longlonglonglonglonglonglonglonglonglong"~`
	if !strings.HasPrefix(text, want) ||
		!strings.HasSuffix(text, `; bucket slot every(24h0m0s,ts) from 2024-03-01T00:00:00.5Z by ts hash(4,a,b); `+
			`bucket part hash(4,id) or hash(40,id); rotate month(ts); versioned version; local-serial; transactional; unique by_email by_phone; owners users; id run_id; stamp updated_at; expires-at ends; sweep-inserts]`) {
		t.Errorf("%s", text)
	}
	if strings.Contains(text, "/*") || strings.Contains(text, "*/") {
		t.Errorf("marks of a comment: %s", text)
	}
	for _, own := range []string{"", "a page", "[denorm:1 nonsense]", "it's; [denorm:2"} {
		gotOwn, gotText := compare.Split(compare.Join(own, text))
		if gotOwn != own || gotText != text {
			t.Errorf("%q: %q and %q", own, gotOwn, gotText)
		}
	}
	read, err := compare.Parse(text)
	if err != nil || read.String() != text {
		t.Errorf("%v\n%s\n%s", err, read, text)
	}
	if got := (compare.Fingerprint{}).String(); got != "[denorm:1]" {
		t.Error(got)
	}
}

// FuzzCheck: whatever stands in a comment, it is read without a fault, what is read can be written again, and no
// character comes out that a terminal obeys.
func FuzzCheck(f *testing.F) {
	f.Add(full.String())
	f.Add("own [denorm:1]")
	f.Add("[denorm:7 x]")
	f.Add(`[denorm:1 one-of a "b"~0123456789abcdef 0x00~0123456789abcdef; bucket b hash(1,a) or hash(2,a); x-y z "]`)
	f.Fuzz(func(t *testing.T, comment string) {
		own, text := compare.Split(comment)
		if compare.Join(own, text) != comment && text == "" {
			t.Errorf("%q became %q", comment, own)
		}
		if read, err := compare.Parse(text); err == nil {
			again, err := compare.Parse(read.String())
			if err != nil || again.String() != read.String() {
				t.Errorf("%q became %q: %v", text, read, err)
			}
		}
		var all []compare.Finding
		cost.Bound(t, len(comment), 1000, func() { all = compare.Check(full.String(), text, time.Unix(0, 0)) })
		for _, found := range all {
			for _, s := range []string{found.Column, found.Reason, found.Write, found.Do} {
				if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) || len(s) > 1<<18 {
					t.Errorf("%q came out", s)
				}
			}
		}
	})
}

// Where each side knows something that the other does not, and nothing contradicts, the statement keeps both.
func TestStatementKeepsWhatOthersKnow(t *testing.T) {
	t.Parallel()
	const (
		declared = `[denorm:1 one-of a "x"; one-of b "x" "y"; bucket c hash(4,id); bucket d day(ts)]`
		live     = `[denorm:1 one-of a "x" "z"; one-of b "x"; bucket c hash(8,id) or hash(4,id); bucket d day(ts) from 2030-01-01T00:00:00Z by ts hour(ts)]`
		want     = `[denorm:1 one-of a "x" "z"; one-of b "x" "y"; bucket c hash(8,id) or hash(4,id); bucket d day(ts) from 2030-01-01T00:00:00Z by ts hour(ts)]`
	)
	found := compare.Check(declared, live, time.Unix(0, 0))
	if len(found) != 2 || !found[0].Note || found[0].Write != "" || found[1].Write != want ||
		found[1].Reason != `OneOf of b has got "y"` {
		t.Errorf("%+v", found)
	}
	if found := compare.Check(declared, want, time.Unix(0, 0)); len(found) != 1 || found[0].Write != "" {
		t.Errorf("and then: %+v", found)
	}
	if found := compare.Check(want, live, time.Unix(0, 0)); len(found) != 1 || found[0].Write != want {
		t.Errorf("the newer one: %+v", found)
	}
}

// A time that no declaration writes does not pass for one to come.
func TestFunctionFromAnUnreadableTime(t *testing.T) {
	t.Parallel()
	for from, wrong := range map[string]bool{
		"2030-01-01T00:00:00Z": false, "2020-01-01T00:00:00Z": true,
		"2020-01-01": true, "T": true,
	} {
		found := compare.Check("[denorm:1 bucket d day(ts)]", "[denorm:1 bucket d day(ts) from "+from+" by ts hour(ts)]",
			time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		if len(found) != 1 || found[0].Note == wrong {
			t.Errorf("%s: %+v", from, found)
		}
	}
}

// However much somebody writes into a comment, what is said of it can be read.
func TestReasonsAreShort(t *testing.T) {
	t.Parallel()
	const declared = `[denorm:1 one-of a "x" "y"; bucket b hash(4,id)]`
	long := strings.Repeat("a", 60_000)
	for _, live := range []string{
		`[denorm:1 one-of a "x" "` + long + `"; bucket b hash(4,id)]`, `[denorm:1 one-of ` + long + ` "x"]`,
		"[denorm:1 versioned " + long + "]",
		`[denorm:1 one-of a "x" "y"; bucket b ` + strings.Repeat("hash(1,a) or ", 4000) + "hash(2,a)]",
		"[denorm:1 one-of a " + strings.Repeat(`"`+long[:5000]+`" `, 12) + "]",
		"[denorm:1 " + strings.Repeat("unique-x;", 5000) + "]",
	} {
		found := compare.Check(declared, live, time.Time{})
		if len(found) == 0 {
			t.Errorf("%.50s passes", live)
		}
		for _, f := range found {
			if size := len(f.Reason) + len(f.Column); size > 2500 {
				t.Errorf("%.50s: %d characters, %.200s", live, size, f.Reason)
			}
		}
	}
}

// A function that was added with a time has to be in the table first. If that time has passed it says what it would
// mean: rows of since then under the former function.
func TestAddedFunctionWithATime(t *testing.T) {
	t.Parallel()
	const declared, live = `[denorm:1 bucket d day(ts) from 2030-01-01T00:00:00Z by ts hour(ts)]`,
		`[denorm:1 bucket d day(ts)]`
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for now, want := range map[time.Time]bool{start.Add(-time.Second): false, start: true} {
		found := compare.Check(declared, live, now)
		if len(found) != 1 || found[0].Note || found[0].Write != declared ||
			strings.Contains(found[0].Reason, "the Since has begun, and rows that a process without it has written") != want ||
			found[0].Begun != want {
			t.Errorf("%v: %+v", now, found)
		}
	}
}

// Of two functions that were added, each is told what is true of it.
func TestAddedFunctionsWithTimes(t *testing.T) {
	t.Parallel()
	const live = `[denorm:1 bucket d day(ts); bucket e day(ts)]`
	const declared = `[denorm:1 bucket d day(ts) from 2030-01-01T00:00:00Z by ts hour(ts); bucket e day(ts) from 2031-01-01T00:00:00Z by ts hour(ts)]`
	found := compare.Check(declared, live, time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC))
	if len(found) != 1 || !found[0].Begun || strings.Count(found[0].Reason, "the Since has begun") != 1 ||
		strings.Count(found[0].Reason, "put the Since into the fingerprint before a process with it starts") != 1 {
		t.Errorf("%+v", found)
	}
}
