package cql

import "strings"

// maxMeant bounds names that are compared: letters are compared each with each.
const maxMeant = 64

// Meant says which of the columns may be meant by a name that none of them has, as the end of an error: ": did you mean
// total?". It is empty if none is like it.
func Meant(name string, columns []string) string {
	best, least := "", len(name)
	for _, c := range columns {
		if max(len(name), len(c)) > maxMeant {
			continue
		}
		if d := unlike(name, c); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// unlike is how much a name differs from that of a column: 0 where only case and underscores do, and len(name) where
// the one is hardly meant by the other.
func unlike(name, column string) int {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
	if plain(name) == plain(column) {
		return 0
	}
	long, short := name, column
	if len(long) < len(short) {
		long, short = short, long
	}
	part := strings.HasPrefix(long, short+"_") || strings.HasSuffix(long, "_"+short) || len(short) > 2 &&
		strings.HasPrefix(long, short)
	if !part && len(long)-len(short) > len(long)/3 {
		return len(name)
	}
	if d := edits(name, column); part || d <= len(long)/3 {
		return min(d, len(name)-1)
	}
	return len(name)
}

// edits counts the letters to insert, delete, replace or exchange with their neighbor to get from a to b, of at most
// maxMeant letters.
func edits(a, b string) int {
	var rows [3][maxMeant + 1]int // the last ones
	for i := range len(a) + 1 {
		row, above := &rows[i%3], &rows[(i+2)%3]
		for j := range len(b) + 1 {
			switch {
			case i == 0 || j == 0:
				row[j] = i + j
				continue
			case a[i-1] == b[j-1]:
				row[j] = above[j-1]
			default:
				row[j] = 1 + min(above[j-1], above[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], 1+rows[(i+1)%3][j-2])
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
