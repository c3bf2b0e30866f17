package cql

import "strings"

func digit(c byte) bool { return '0' <= c && c <= '9' }

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func hexadecimal(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// digits is how many digits text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && digit(text[n]) {
		n++
	}
	return n
}

// wordLength is the length of the word that text begins with, 0 without.
func wordLength(text string) int {
	if text == "" || !letter(text[0]) {
		return 0
	}
	n := 1
	for n < len(text) && (letter(text[n]) || digit(text[n]) || text[n] == '_') {
		n++
	}
	return n
}

// uuidShape has x for a hexadecimal digit.
const uuidShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

// uuidLength is the length of the UUID that text begins with, 0 without.
func uuidLength(text string) int {
	if len(text) < len(uuidShape) {
		return 0
	}
	for i := range len(uuidShape) {
		if uuidShape[i] == '-' && text[i] != '-' || uuidShape[i] == 'x' && !hexadecimal(text[i]) {
			return 0
		}
	}
	return len(uuidShape)
}

// blobLength is the length of the blob that text begins with, 0 without.
func blobLength(text string) int {
	if len(text) < 2 || text[0] != '0' || text[1]|0x20 != 'x' {
		return 0
	}
	n := 2
	for n < len(text) && hexadecimal(text[n]) {
		n++
	}
	return n
}

// numberLength is the length of the number that text begins with, and whether it is an integer. Two points after it are no
// part of it.
func numberLength(text string) (n int, whole bool) {
	n, whole = 0, true
	if text[0] == '-' {
		n = 1
	}
	n += digits(text[n:])
	if n < len(text) && text[n] == '.' && !strings.HasPrefix(text[n:], "..") {
		whole = false
		n++
		n += digits(text[n:])
	}
	if n < len(text) && text[n]|0x20 == 'e' {
		exponent := n + 1
		if exponent < len(text) && (text[exponent] == '+' || text[exponent] == '-') {
			exponent++
		}
		if d := digits(text[exponent:]); d > 0 {
			return exponent + d, false
		}
	}
	return n, whole
}

// units are those of durations; one that begins with another comes before it.
var units = []string{"ms", "mo", "us", "µs", "ns", "y", "w", "d", "h", "m", "s"}

// durationLength is the length of the duration as 1h30m that text begins with, 0 without.
func durationLength(text string) int {
	n := 0
	if text[0] == '-' {
		n = 1
	}
	whole := 0
	for {
		d := digits(text[n:])
		if d == 0 {
			return whole
		}
		unit := 0
		for _, u := range units {
			if end := n + d + len(u); end <= len(text) && strings.EqualFold(text[n+d:end], u) {
				unit = len(u)
				break
			}
		}
		if unit == 0 {
			return whole
		}
		n += d + unit
		whole = n
	}
}

// isoAlternative is the alternative form of ISO 8601, with 0 for a digit.
const isoAlternative = "P0000-00-00T00:00:00"

// isoLength is the length of the duration of ISO 8601 that text begins with, 0 without. P and the designators are in upper
// case, and no letter follows.
func isoLength(text string) int {
	if text == "" || text[0] != 'P' {
		return 0
	}
	if len(text) >= len(isoAlternative) {
		matches := true
		for i := range len(isoAlternative) {
			matches = matches && (text[i] == isoAlternative[i] || isoAlternative[i] == '0' && digit(text[i]))
		}
		if matches {
			return len(isoAlternative)
		}
	}
	n := 1 + designated(text[1:], "W")
	if n == 1 {
		n += designated(text[1:], "YMD")
		if n < len(text) && text[n] == 'T' {
			if time := designated(text[n+1:], "HMS"); time > 0 {
				n += 1 + time
			}
		}
	}
	if n == 1 || n < len(text) && (letter(text[n]) || digit(text[n]) || text[n] == '_') {
		return 0
	}
	return n
}

// designated is the length of numbers, each with its designator, in the order of the designators.
func designated(text, designators string) int {
	n := 0
	for _, c := range []byte(designators) {
		if d := digits(text[n:]); d > 0 && n+d < len(text) && text[n+d] == c {
			n += d + 1
		}
	}
	return n
}
