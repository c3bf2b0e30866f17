// Package orderservice is a small HTTP service for orders that embeds denorm: the example to start from. An order is
// kept in three query tables (package orders), and every write of it reaches all of them at one timestamp.
//
//	POST /orders                {"user_id": "...", "total": "19.95"}     201 and the order
//	GET  /orders/{id}                                                    200 and the order
//	PUT  /orders/{id}/status    {"status": "paid"}                       200 and the order
//	POST /orders/{id}/cancel                                             200 and the order
//	GET  /orders?status=open&limit=50                                    200 and {"orders": [...]}, newest first
//	GET  /users/{user}/orders?limit=50                                   200 and {"orders": [...]}, newest first
//	GET  /healthz, GET /readyz                                           200 while it runs; while it can read
//
// # A repeated request is the same write
//
// The network loses answers, so clients repeat requests, and a repeat must not make a second order or undo what came
// after the first try. Each write therefore has a key, in the header Idempotency-Key: a UUID of version 1, made by the
// client when it makes the request (uuidgen --time), near the service's own time. Nothing is stored for a key, because
// all that makes the write what it is follows from the request:
//
//   - The timestamp of the write is the time of the key, so that every try, in every process, writes the same bytes at
//     the same timestamp, and Cassandra makes one write of them (writer.At).
//   - The id of a new order is a time UUID of the same time, the rest of it a hash of key, user and total. A repeat
//     is the same row. Requests that differ are different orders, whatever keys their clients choose: nobody can write
//     over an order by taking its id for a key.
//   - A change of status looks at the order first. Where that shows the timestamp of this very write, an earlier try got
//     there, perhaps not in all tables, and is finished. Where it shows a later one, the change has been overtaken: 409.
//
// A request without a key gets one, and finds it in the answer. A key too far ahead of the clock, or a day old, is
// refused: repeats must end long before Cassandra forgets deletes.
//
// # What the answers mean
//
//	200, 201   applied     every table has it
//	202        unknown     it may have been applied, to some tables or all, or may still be: repeat it with the same key
//	400, 422   rejected     the request is malformed; it is not valid
//	403        rejected     a browser sent it for a page of another site
//	413, 415   rejected     the body is too large; it says that it is not JSON
//	404        rejected     no such order
//	409        rejected     the order as it is does not allow it, or has changed since the key was made; the body has the order
//	503        not applied surely in no table; nothing could be sent, or every server rejected it: repeat it with the same key
//
// What is not known is never reported as failed: that is what 202 is for, which HTTP defines as a request that might or
// might not be acted upon. No answer at all means the same. The repeat finishes it, in any instance of the service.
//
// An answer speaks of its own try. Once a try of a key was unknown, a later refusal or "not applied" does not settle
// the earlier try; only 2xx does, and 409 with the reason "superseded", as a newer change has then replaced this one. A
// client that repeats 202, 503 and lost answers with the same key until it gets something else needs to know no more.
//
// # It has no authentication
//
// Whoever reaches the port may read, make and change every order of every user. The command listens on the loopback
// address unless told otherwise, and logs a warning where it is told. Before anybody else can reach it, put a handler
// around [Service.Handler] that lets known callers through and checks that a user asks for their own orders, and put
// TLS in front of it:
//
//	orderservice.Serve(ctx, listener, authenticated(service.Handler(), token), log)
//
// The example has such a handler for a token. Cassandra's side is different: the command takes credentials and
// certificates.
//
// A browser that is led to another site's page cannot be used to change orders (http.CrossOriginProtection); programs,
// which say nothing of a site, are let through. A site that makes its own name resolve to the service's address is not
// distinguished by that.
//
// # What it does not promise
//
// Rows win as a whole and by timestamp (tables.OneOf). Of two clients that change one order at the same moment both may
// be told 200, and the change with the later key is what remains. And a change that was answered with 202 may, when it
// is repeated, be rejected because of another client's change with an earlier key, and still come into effect by its
// first try. Where several actors change one order at once and no change may be lost, the set has to be Versioned.
//
// # Where to look
//
// service.go is the routes and what they need; write.go is the writes, read.go the reads; key.go is the idempotency key
// and outcome.go the table above. cassandra.go opens sessions and writer, server.go runs, stops and answers probes,
// observe.go joins the spans of the writes to that of the request. The command is in integration/cmd/orderservice. The
// clients in integration/load/orderservice do as they are told here, and check what they are told.
package orderservice
