package ast

import (
	"regexp"
	"strconv"
)

var noWord = regexp.MustCompile(`\W`)

// IndexName is the name that the server gives to an index that is created without one. taken says whether the keyspace has an index of a name.
// column is empty for an index that is not on one column.
func IndexName(table, column string, taken func(name string) bool) string {
	if column != "" {
		table += "_" + column
	}
	base := noWord.ReplaceAllString(table+"_idx", "")
	name := base
	for n := 1; taken(name); n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	return name
}
