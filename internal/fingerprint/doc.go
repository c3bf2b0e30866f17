// Package fingerprint is what all processes that write a table have to declare alike, as a short text at the end of the
// table's comment:
//
//	the page of a user's orders [denorm:1 one-of status "open" "paid"; bucket slot hash(4,order_id)]
//
// It is made from a declaration (package tables), written with the table (package schema), and compared at the start of a
// process (packages schema and writer). The text names what it stands for, so that a difference can be named.
//
// A comment can be written by whoever may alter the table, so what is read from one is checked character by character:
// names, numbers and quoted ASCII come out of it and nothing else.
package fingerprint
