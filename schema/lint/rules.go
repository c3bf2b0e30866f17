package lint

import (
	_ "embed"
	"math"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/estimate"
)

// texts has all rules by code: the name, the severity, and in a sentence or more what is wrong.
//
//go:embed rules.txt
var texts string

// rules are those of texts. The first needs to know what the others have found.
var rules = func() (out []Rule) {
	for text := range strings.SplitSeq(texts, "\n\n") {
		head, doc, _ := strings.Cut(text, "\n")
		words := strings.Fields(head)
		out = append(out, Rule{
			Code: words[0], Name: words[1], Severity: Severity(slices.Index(severities, words[2])),
			check: checks[words[0]], Doc: strings.Join(strings.Fields(doc), " "),
		})
	}
	return out
}()

// checks are what the rules do: functions that [review.check] knows.
var checks = map[string]any{
	"DN001":      unused,
	"DN101":      lowCardinality,
	"DN102":      hotPartition,
	"DN103":      timeOnly,
	"DN104":      unbounded,
	"DN105":      size("rows", estimate.GoodRows, math.Inf(1)),
	"DN106":      size("bytes", estimate.GoodBytes, estimate.BadBytes),
	"DN107":      size("bytes", estimate.BadBytes, math.Inf(1)),
	"DN108":      size("cells", estimate.MaxCells, math.Inf(1)),
	"DN201":      missingUnique,
	"DN202":      keyByClock,
	"DN203":      incomplete,
	"DN205":      typeInKey([]string{"double", "float"}, "a bigint of the smallest unit", "what computes it in another way finds no row"),
	"DN206":      redundant,
	"DN207":      twoTypes,
	"DN208":      typeInKey([]string{"list", "set", "map"}, "a table with a row for each element", "a row is found only by all of its elements"),
	"DN209":      timeAsText,
	"DN210":      takenOver,
	"DN211":      staleCopies,
	"DN301":      notFrozen(false, "unless single elements are changed without reading, and then never write it as a whole"),
	"DN302":      notFrozen(true, "or a set, or a clustering column"),
	"DN303":      counters,
	"DN304":      impreciseAmount,
	"DN305":      counterLifetime,
	"DN401":      valuesIndexed(numerous, " as its", "many values"),
	"DN402":      views,
	"DN403":      valuesIndexed(fewIn, " and a bucket in its", "few values: the rows of one are a large part of the table"),
	"DN404":      indexAlone,
	"DN405":      sasiIndexes,
	"DN406":      mapValues,
	"DN407":      leadingWildcard,
	"DN501":      partitionUnused,
	"DN502":      notServed,
	"DN503":      backwards,
	"DN504":      filtering,
	"DN505":      largeIn,
	"DN506":      unknownTable,
	"DN507":      unknownColumn,
	"DN508":      unread,
	codeRejected: rejected,
	"DN510":      partOfEntity,
	"DN511":      batchesRejected,
	"DN512":      looseBatches(false),
	"DN513":      looseBatches(true),
	"DN514":      literalNull,
	"DN515":      hotRow,
	"DN516":      queues,
	"DN519":      wholePartition,
	"DN520":      broughtBack,
	"DN521":      lostUpdate,
	"DN522":      notRepeatable,
	"DN523":      deleteWins,
	"DN524":      needless,
	"DN601":      gcGrace,
	"DN602":      ttlDiffers,
	"DN603":      conditional,
	"DN604":      timeSeries,
	"DN605":      replication,
	"DN606":      optionClass,
	"DN607":      keyspaceAtRisk,
	"DN608":      deletes(false),
	"DN609":      deletes(true),
	"DN610":      timeWindows,
	"DN611":      deprecated,
	"DN612":      costlyOptions,
	"DN613":      deletesWithTTL,
	"DN614":      manyTables,
	"DN615":      manyColumns,
	"DN616":      unusedTables,
	"DN617":      withoutTTL,
}
