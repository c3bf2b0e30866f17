package cql

import "strings"

// Meant says which of the columns may be meant by a name that none of them has, as the end of an error: ": did you mean total?". It
// is empty if none is like it.
func Meant(name string, columns []string) string {
	best, least := "", len(name)
	for _, c := range columns {
		if d := unlike(name, c); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// unlike is how much a name differs from that of a column: 0 where only case and underscores do, and len(name) where the one is
// hardly meant by the other.
func unlike(name, column string) int {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
	if plain(name) == plain(column) {
		return 0
	}
	d := edits(name, column)
	long, short := name, column
	if len(long) < len(short) {
		long, short = short, long
	}
	part := strings.HasPrefix(long, short+"_") || strings.HasSuffix(long, "_"+short) || len(short) > 2 && strings.HasPrefix(long, short)
	if part || d <= len(long)/3 {
		return min(d, len(name)-1)
	}
	return len(name)
}

// edits counts the letters to insert, delete, replace or exchange with their neighbor to get from a to b.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
			}
		}
	}
	return rows[len(a)][len(b)]
}
