// Package fingerprint is what all processes that write a table have to declare alike, as a short text at the end of the
// table's comment:
//
//	the page of a user's orders [denorm:1 one-of status "open" "paid"; bucket slot hash(4,order_id)]
//
// It is made from a declaration (package tables) and written with the table (package schema), which compares it at the
// start of a process. The text names what it stands for, so that a difference can be named. It is not in a table of its
// own, because a comment is created, copied, restored and dropped with its table, and needs no permission to write rows
// (docs/design/schema.md).
package fingerprint
