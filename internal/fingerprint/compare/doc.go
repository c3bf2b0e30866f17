// Package compare reads the fingerprints of tables, and compares them with declarations, for package schema.
//
// A comment can be written by whoever may alter the table, so what is read from one is checked character by character:
// names, numbers and quoted ASCII come out of it and nothing else.
package compare
