//go:build planted

package reconcile_test

import (
	"regexp"
	"testing"

	bugs "github.com/denorm-go/denorm/internal/testutil/planted" // another planted is in this package
)

// wrongs are rules of repairs broken, and the tests that find it.
var wrongs = []struct{ name, file, text, wrong, in, test string }{
	{
		"an orphan is removed though another data centre may have its base row", "../internal/repair/repair.go",
		"\tcase remove && !l.All:\n\t\treturn Repair{ReadAll: true}, nil\n", "",
		"../internal/repair", "^TestRepairReadsAll$",
	},
	{
		"a new table of a set with Versioned is filled at the present time", "backfill.go",
		"r.Redeliver(r.At,", "r.Redeliver(time.Now().UnixMicro(),",
		".", "^TestBackfillVersioned$",
	},
	{
		"a row that expires gets a version", "adopt.go",
		"case w.Ends != 0:\n\t\t\tj.leave(", "case w.Ends < 0:\n\t\t\tj.leave(",
		".", "^TestAdoptVersioned$",
	},
	{
		"Adopt claims no unique keys", "adopt.go",
		"versioned.Reclaim(ctx, b, read, claims,", "versioned.Reclaim(ctx, b, read, claims[:0],",
		".", "^TestAdoptClaimsUniqueKeys$",
	},
	{
		"a claim that names nobody keeps the rows after it from their versions", "adopt.go",
		"\t\tcase errors.Is(err, versioned.ErrOwnerless):\n", "",
		".", "^TestAdoptClaimsUniqueKeys$",
	},
	{
		"a key of another base row is claimed", "../internal/repair/claim.go",
		"case c.Held:", "case false:",
		".", "^TestUniqueKeys$",
	},
	{
		"what could not be read of a range is forgotten", "scan.go",
		"gaps, unread, todo = join(gaps, gap{s.rest(), err}), err, todo[:last]", "todo = todo[:last]",
		".", "^TestScanOfTombstonesByRange$",
	},
	{
		"one replica counts as all", "settle.go",
		"All: base == gocql.All,", "All: true,",
		".", "^TestRandom$/OneOf_repairs_that_wait",
	},
	{
		"a row that was put into the base table is not read back", "repair.go",
		"\t\tif l, err = j.lookAtAll(ctx, s); err != nil {\n\t\t\treturn sent, err\n\t\t}\n\t\tl.Promoted", "\t\tl.Promoted",
		".", "^TestClasses$",
	},
	{
		"a row is put at the present time", "../internal/repair/repair.go",
		"return r.Redeliver(r.At,", "return r.Redeliver(time.Now().UnixMicro(),",
		".", "^TestWrittenAtEveryStep$/^0_",
	},
	{
		"one look is enough", "../internal/repair/sighting.go",
		"case s.Looks < needed:", "case s.Looks < min(needed, 1):",
		"../internal/repair", "^TestSightings$",
	},
	{
		"two looks are enough for a row that may be written with At", "../internal/repair/sighting.go",
		"!p.At && s.older(p.Settle)", "s.older(p.Settle)",
		"../internal/repair", "^TestSightings$",
	},
	{
		"a row is put into the base table however old it is", "../internal/repair/repair.go",
		"unproven := !whole || newest.At < r.Promotable", "unproven := !whole",
		"../internal/repair", "^TestRepairPurge$",
	},
	{
		"no tombstone of the base table is ever purged", "repair.go",
		" Promotable: time.Now().Add(-time.Duration(promotable * float64(j.base().live.GCGrace))).UnixMicro(),", "",
		".", "^TestFirstSightingsOutliveRuns$",
	},
	{
		"a row of a set with Versioned is removed though nothing remembers a delete", "../internal/repair/versioned.go",
		"case v.At == 0 && (q.At == 0 || q.At > r.Adopt):", "case v.At == 0 && q.At == 0:",
		".", "^TestRestoredVersioned$",
	},
	{
		"a row of a set with Versioned is removed above the version", "../internal/repair/versioned.go",
		"at := v.At\n", "at := v.At + 1_000_000\n",
		"../internal/decide/versioned", "^TestRepairVersioned$/^by_the_rules$",
	},
	{
		"a write that is pending is not rolled forward", "../internal/repair/versioned.go",
		"case v.Pending:", "case false:",
		"../internal/decide/versioned", "^TestRepairVersioned$/^by_the_rules",
	},
	{
		"no number of removals is too large", "repair.go",
		"if j.removed.Add(rows) <= most {", "if j.removed.Add(rows) <= most || rows > 0 {",
		".", "^TestTablesGone$",
	},
	{
		"an entity is left for what is written while it is repaired", "repair.go",
		"why.written && round < rounds-1", "why.written && round < 0",
		".", "^TestWrittenWhileItIsRepaired$",
	},
	{
		"a row that half of a delete covers is shadowed at once", "repair.go",
		"if after := repairable(l); !wait && ", "if after := repairable(l); false && ",
		".", "^TestWrittenWhileItIsRepaired$",
	},
	{
		"a continued run forgets what it has found of an entity elsewhere", "settle.go",
		"j.stored.lookToo(s)", "_ = s",
		".", "^TestResumedRunKeepsWhatAnEntityHasElsewhere$",
	},
	{
		"a base row that Derive does not give is repaired", "../internal/repair/repair.go",
		`case l.underived() != "":`, "case false:",
		".", "^TestBaseRowsThatDeriveDoesNotGive$",
	},
	{
		"a row that may be of a base row elsewhere is removed", "repair.go",
		"case j.keyless.elsewhere.Load():", "case false:",
		".", "^TestBaseRowsThatDeriveDoesNotGive$",
	},
	{
		"absent values are left alone in rows that differ", "../internal/repair/repair.go",
		"\t\tnulls = nulls || f.Class == Differing\n", "",
		"../internal/repair", "^TestNulls$",
	},
	{
		"of two values the older one wins", "../internal/repair/cells.go",
		"(have == nil || baseAt > at || ", "(have == nil || baseAt < at || ",
		"../internal/repair", "^TestRepairCellsLiveness$",
	},
	{
		"a ghost is removed below its own time", "../internal/repair/repair.go",
		"at := f.RowAt\n", "at := f.RowAt - 1\n",
		"../internal/repair", "^TestRepairMovedLiveness$",
	},
	{
		"what is missing of a set with Versioned is left", "../internal/repair/versioned.go",
		"case !put:", "case put || !put:",
		".", "^TestRandom$/Versioned_repairs_that_are_hasty",
	},
	{
		"a value that the base row does not have is removed without proof", "../internal/repair/cells.go",
		"case c.look.Promoted[name] >= at, ", "case c.look.Promoted[name] >= 0, ",
		"../internal/repair", "^TestRepairCells$",
	},
	{
		"two base rows of one ID are not told", "digest.go",
		"d.namesakes(ctx, &last, &r)", "_ = last",
		".", "^TestTwoBaseRowsOfOneID$/^two_rows$",
	},
	{
		"of two base rows of one ID the newer one is right", "../internal/repair/repair.go",
		"case slices.ContainsFunc(l.Tables, l.shares):", "case false:",
		".", "^TestTwoBaseRowsOfOneID$",
	},
	{
		"an insert is not ordered after the delete of its ID", "../internal/layout/set.go",
		"pick(s.ID, row)", "pick(s.Tables[0].Key, row)",
		".", "^TestAnotherBaseKey$",
	},
	{
		"a row that is put by columns leads nowhere", "../internal/repair/cells.go",
		"if has && !l.Tables[i].Leads() {", "if has {",
		"../internal/repair", "^TestMissingRowLeadsToItsBaseRow$",
	},
	{
		"a row that is patched leads nowhere", "../internal/entity/place.go",
		" || slices.Contains(t.Leads, i) {", " {",
		"../internal/repair", "^TestConvergencePatch$",
	},
	{
		"a write from the future is carried out", "../internal/repair/repair.go",
		"\tcase l.ahead() != 0:\n\t\treturn l.undo(r)\n", "",
		".", "^TestRepairOfAMoveByAFastClock$/^that_has_reached_the_table_by_user$/^left$",
	},
	{
		"an end by a TTL is not looked for", "../internal/tablerow/survey.go",
		"\t\tto.Ending++\n", "\t\tto.Ending += 0\n",
		".", "^TestRowsThatEndAreCounted$",
	},
	{
		"a run that is continued forgets rows that end", "unit.go",
		" && !u.unsafe.Load()", "",
		".", "^TestContinuedRunCountsRowsThatEnd$",
	},
	{
		"rows that end at different times agree", "../internal/repair/repair.go",
		"f.Column == \"\" && l.endsApart(q)", "f.Column == \"\" && l.endsApart(q) && false",
		".", "^TestAdoptFillsTheExpiry$",
	},
	{
		"a time in milliseconds is taken for one of 1970", "../internal/repair/repair.go",
		"\tcase l.OtherUnit() != \"\":\n\t\treturn Repair{Reason: l.OtherUnit()}, nil\n", "",
		".", "^TestTimesInOtherUnits$",
	},
	{
		"what a version replaces is not counted", "adopt.go",
		"\tj.report.add(wrong)\n", "",
		".", "^TestAdoptVersionedCountsWrongRows$",
	},
	{
		"a write that was ahead when a run saw it is carried out later", "sightings.go",
		"s.held = max(s.held, at-1)", "s.held = max(s.held, 0)",
		".", "^TestRepairOfAWriteByAFastClock$/^left,_and_found_again$",
	},
}

// Every rule that is broken is found by tests of this module.
func TestPlantedRepairs(t *testing.T) {
	t.Parallel()
	for _, w := range wrongs {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			output := bugs.Find(t, w.file, w.text, w.wrong, "-vet=off", "-cpu", "1", "-count", "5", "-failfast", "-run", w.test, w.in) // some find it by chance, nearly always
			failed := regexp.MustCompile(`--- FAIL: (Test\S+ \(\S+\))`).FindSubmatch(output)
			if failed == nil {
				t.Fatalf("it is not found, but something else:\n%s", output)
			}
			t.Logf("%s", failed[1])
		})
	}
}
