// Package versioned is the protocol by which an entity's base row is changed by lightweight transactions, while its
// query tables are written without any. It is free of CQL and of the driver: the writer runs it against Cassandra, and
// the tests of this package against a model with crashes, delays and skewed clocks.
//
// The base row also has the columns version, pending, done and recent, see [layout.KeptInBase]. A change is
//
//  1. a compare-and-set of the row, if its version is the one in the before-image and done says the same. It writes the new columns,
//     version = v, v into recent, and into pending v and the keys that the row had in the query tables;
//  2. the rows of the query tables, at the timestamp in v;
//  3. done = v, at the timestamp in v.
//
// Whoever meets a row whose done is not its version rolls forward: does 2 and 3 for the client that has not. A delete
// leaves a fence: a base row without columns, whose version lives for a while. It is finished when pending is null. A
// transaction removes that, if it is still of the delete, and before it done is deleted at the timestamp in v.
//
// [Settle] is step 1 and [RollForward] the steps 2 and 3 of others; [Change] is a change with its unique keys.
//
// # Why it converges
//
// The versions of a row rise, and one of them is unfinished at a time: the next change waits until the query tables
// are known to have the last one. Everything that is written to a query table for an entity carries the timestamp of
// one of its versions, so whatever comes late is covered by what is newer. It takes the version's own bits, not the
// clock, to say whose a version is.
//
// Transactions write version, pending and recent, and nothing else does. Plain writes alone write done: its timestamps
// are those of versions, and not ballots, so a late one loses.
//
// # Who won
//
// A writer whose answer is lost reads the row. The column recent has versions of the entity, see [entity.Recent]. If
// its own is there, the change was applied. If [entity.Recent.Missed] says so, another change has followed Before, and
// this one will never be applied: a row has each version once. No row, and the fence of a deleted one, come again when
// fences expire. So an insert is judged only by the call that has sent it. All its attempts that may have been applied
// must have had the Before of the other insert. All this is true of any row that once was there, so it does not matter
// whether reads and rejected transactions are linearizable (paxos_variant).
//
// # What the fence's life must be
//
// Only while a fence lives does it stop what was begun before it. It must outlive the sum of four times: the age that
// the version of an insert can have when a call first sends it (a kept timestamp, or a write that is resumed); that
// call with its attempts; the time that the network and a coordinator can hold a request back; two clock errors. An
// insert that comes later, below a fence which has expired, is in the base table and under tombstones in the query
// tables, and a claim for one that comes later may be somebody else's. A fence is one small row, so it may well live
// much longer. Updates and deletes have no such limit: a version that was theirs never comes back.
//
// # Entities with one ID
//
// Where the ID is not all of the base key, an entity that comes after another one with its ID has another base row,
// and the same rows in query tables. No fence is in its way. The claim of the ID is what says that the other one is
// gone. So an insert claims first, and its version is made after that: see [Change.ID]. No token says this of a
// version: a claim may arrive late, or be of another insert of the entity. Only the write itself knows it, and it is
// kept with the change.
//
// Whoever takes the ID from the entity after that leaves a fence in its base row, as does its own delete. So an insert
// that is sent again is not applied over a fence, and does not need the claim of before. It must not be sent again if
// this write may have given the claim back: that leaves no fence.
//
// An insert whose version is given, by At, is not checked. If the other one was deleted at a later time, its tombstones
// cover the insert in query tables.
//
// # Unique keys
//
// A row of a unique table is a claim: an owner, and a token that is new whenever a write claims the key, be it for the
// same owner. At any moment, the owner of a claim is the only entity whose base row can have the key. A claim is taken
// from an owner who lacks the key in three steps: the token is read; the owner's base row, read after it, gets a new
// version, the fence; the claim is replaced if it still has that token. A swap of the owner's that could bring the key
// after all has the fence, or a later version, as its condition, so it has been seen, and by the rule of [Change] the
// token was changed after that: either the taker does not find its token any more, or the owner finds the taker.
//
// For the same reason no write frees a claim by name: only by the token that it has set itself and that nobody has used
// since, if none of its own swaps can have been applied; or by the token that was there before the change that gave the
// key up was applied. All others leak the claim, and the next one who wants the key takes it in the same three steps.
package versioned
