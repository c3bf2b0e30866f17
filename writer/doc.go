// Package writer carries out logical writes: every change of an entity reaches all of its query tables, at one
// timestamp, in the cheapest way that keeps the promise, retried until each table has acknowledged it or the limits are
// met, with an error that says table by table what is known.
//
//	w, err := writer.New(session, writer.Reads(readSession))
//	res, err := w.Write(ctx, "createOrder", Orders.Insert(order))
//	order.UpdatedAt = res.Timestamp
//	res, err = w.Write(ctx, "payOrder", Orders.Update(order, paid))
//
// A write that fails is not forgotten: its [*Error] holds the encoded mutations, can be stored, and is finished by
// [Writer.Resume], with the same bytes at the same timestamp.
package writer
