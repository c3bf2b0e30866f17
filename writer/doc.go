// Package writer carries out logical writes: every change of an entity reaches all of its query tables, at one
// timestamp, in the cheapest way that keeps the promise, retried until each table has acknowledged it or the limits are
// met, with an error that says table by table what is known.
//
//	s, err := session.Open(gocql.NewCluster("10.0.0.1"), session.LocalDC("dc1"))
//	w, err := writer.New(s)
//	res, err := w.Write(ctx, "createOrder", Orders.Insert(order))
//	order.UpdatedAt = res.Timestamp
//	res, err = w.Write(ctx, "payOrder", Orders.Update(order, paid))
//
// # Guarantees
//
// What a reader of each table can see, by mode and by fault, and what to do about it. [Writer.Explain] says which mode a
// write has. Each row names the tests that prove it: with a fake cluster for what the writer does with the cluster's
// answers, with a model of Cassandra's merge rules for what its statements amount to, in whatever order they arrive. What
// Cassandra itself promises is not proved here.
//
// [Single] and [SamePartition], one request:
//
//	fault                a reader sees                               what to do           proved by
//	none                 each row old or new, never a mixture; two   -                    TestExplain, TestGroup,
//	                     tables may differ while it is under way                          TestGoroutines
//	client killed        all of the write in the end, or nothing     repeat the request   TestGoroutines: one request
//	                                                                 with At
//	node down,           as before or as after: Unknown unless       Resume               TestOutcomesOfOneRequest,
//	coordinator timeout  the error says "not applied" for sure                            TestOutcomesNeverLie; on the
//	                                                                                      wire TestWireOutcomes,
//	                                                                                      TestWireRandom
//	ctx cancelled        nothing if before the first request (then   Resume, or repeat    TestCancelled, TestDeadline
//	                     NotApplied), otherwise as a timeout
//
// [FanOut], one request per partition, the default for an insert:
//
//	fault                a reader sees                               what to do           proved by
//	none                 some tables before others, for the time     -                    TestOneTimestamp
//	                     of the slowest request
//	client killed        some tables with the write, others          repeat the request   TestAt; counted by
//	                     without, until the entity is written again  with At, or Atomic   TestNodeFaultsUnderLoad
//	                                                                                      (integration/load/soak)
//	node down,           the same for the tables that the error      Resume, also from    TestOutcomesOfFanOut,
//	coordinator timeout  does not call Applied; a failed table       a queue              TestFailureDoesNotCancelSiblings,
//	                     does not harm the others                                         TestSilentAttemptIsRepeated,
//	                                                                                      TestStoredErrorIsResumed
//	ctx cancelled        nothing if before the first request,        Resume               TestCancelled, TestDeadline
//	                     otherwise as a timeout
//
// [LoggedBatch], where deletes travel, several entities change, or a set is Atomic:
//
//	fault                a reader sees                               what to do           proved by
//	none                 some tables before others, for milli-       -                    TestExplain
//	                     seconds; a moved row under both keys or
//	                     neither
//	client killed        all of the write in the end, or nothing: a  repeat the request   TestGoroutines: one request;
//	                     stored batch is replayed, expected within   with At to be        TestGuard: not in a batch whose
//	                     seconds, not certain                        certain              batchlog would drop it
//	node down,           Pending (stored, replay expected within     Resume, or wait      TestOutcomesOfOneRequest,
//	coordinator timeout  seconds, not certain) or Unknown                                 TestOutcomesNeverLie
//	batchlog down        auto: as Fallback. Logged and Atomic: the   Resume               TestFallback,
//	                     write fails                                                      TestStrictNeverFallsBack
//	ctx cancelled        nothing if before the first request,        Resume               TestCancelled,
//	                     otherwise as a timeout                                           TestNoFallbackWithoutTime
//	schema not read      nothing: NotApplied, and not ErrInvalid     Resume               TestGuardInAnOutage
//
// [Fallback], a fan-out in place of a logged batch, which [Result] and error name:
//
//	fault                a reader sees                               what to do           proved by
//	client killed        some tables with the write, others          repeat the request   counted by
//	                     without; a moved row under both keys or     with At, or write    TestNodeFaultsUnderLoad
//	                     neither                                     the entity again     (integration/load/soak)
//	all others           as FanOut; what the failed batch may have   Resume               TestFallbackOutcomes,
//	                     done is not forgotten                                            TestResumeHeedsBatchlogPause
//
// [Counter], counters, in requests of their own beside whatever else the write has, whose mode is then the write's; TableResult
// says of a table that it is one:
//
//	fault                a reader sees                               what to do           proved by
//	none                 some counters before others, and before or  -                    TestCountersTravel,
//	                     after the other tables                                           TestWireCounters
//	client killed        some counters with the addition, others     nothing: nobody can  TestLostReplies (integration/
//	                     without                                     tell; a repeated     pageviews): counted at most
//	                                                                 request counts again once, at least if acknowledged
//	node down,           as before or as after: Unknown, and not     nothing; Resume      TestCounterOutcomes,
//	coordinator timeout  sent again, unless it surely was not        finishes the other   TestWireCounterOutcomes,
//	                     counted                                     tables               TestWireCounterSum
//	batchlog down        the same: a fan-out in place of the batch   -                    TestFallbackLeavesCounters
//	                     beside them leaves them alone
//	ctx cancelled        nothing if before the request (then         nothing              TestWireCounterCancelled
//	                     NotApplied), otherwise as a timeout
//	Resume               counters as they were, NotApplied ones too: stop when Resumable  TestResumeLeavesCounters,
//	                     they are never sent again. While one is     is false             TestForeignCounters
//	                     not Applied no Resume returns nil
//
// [Conditional], a lightweight transaction of the base row first ([tables.Versioned], [tables.Compare]). Beside other entities,
// whose mode the write then has, it comes first as well, and nothing else is sent unless it holds:
//
//	fault                a reader sees                               what to do           proved by
//	none                 the base row first, the query tables for    -                    TestConditionOutcomes
//	                     the time of a fan-out after it
//	another write first  nothing of it: ErrConflict, and Current     Modify, or decide    TestConditionOutcomes, TestLife
//	                     has the row as it is                        anew                 (integration/suite/users)
//	client killed        before the transaction nothing; after it    nothing: the next    TestConvergenceVersioned
//	  Versioned          the base row alone, until the entity is     write or Modify of   (internal/versioned),
//	                     written again: query tables as they were    the entity finishes  TestContendedOrders
//	                                                                 it first             (integration/load/contended)
//	  Compare, and what  after the transaction its row alone; once   Resume, if the       TestClientDiesAfterEachStep
//	  is written beside  the batch of the rest is stored, all of it  error was stored     (integration/suite/supermarket)
//	  it
//	answer lost          nothing wrong: the same transaction is      Resume               TestOwnVersionIsApplied,
//	                     sent again, and its answer tells; Unknown,                       TestCompareAfterALostAnswer,
//	                     with ErrConflict, if another write came                          TestAnswerLostAfterEachStep,
//	                     in between. Compare knows itself again by                        TestConditionIsStoredAndResumed,
//	                     Mark, and may stay Unknown without                               TestMarkAfterALostAnswer
//	request repeated     the first try's work: nil, and the same     the same rows and    TestRepeatOfVersionedIsRecognised,
//	with At              Version; by others' work, Unknown with      before-image again   TestLateRepeatIsNotCalledNotApplied,
//	                     ErrConflict. Compare by its Mark                                 TestRecipesForRepeats
//	several rows of a    all of them changed, or none, whatever of   as of one            TestConditionsOfOnePartition,
//	partition (Compare)  the above befalls them                                           TestLostAnswerOfConditions,
//	                                                                                      TestMovesChangeBothSlotsOrNeither
//	                                                                                      (integration/suite/slots)
//	concurrent moves,    one of them, the others ErrConflict: no     Modify               TestConvergenceVersioned,
//	clock skew           ghost, no lost update                                            TestContendedOrders
//	deleted and created  every table as the last of them; below a    -                    TestInsertOverAFence,
//	again                younger delete the insert is made anew                           TestConvergenceVersioned
//	one key, two         one owner, never two; the other ErrTaken.   another key; or      TestOneAddressOneOwner
//	entities (Unique)    If the owner died before it had the key,    later                (integration/suite/users),
//	                     anyone can take it after ClaimGrace                              TestConvergenceVersioned
//	query table not      the base row alone: the table is Pending,   Resume, or the next  TestQueryTablesFollowTheBaseRow
//	reached; answer      as the next write of the entity brings it;  write of the entity
//	lost                 Unknown while the base row is
//	ctx cancelled        nothing if before the first request,        Resume               TestConditionEndsWithItsContext
//	                     otherwise as an answer that was lost
//
// By what a set declares of its key columns, in every mode, once every write has been finished (acknowledged or resumed):
//
//	fault                a reader sees                               what to do           proved by
//	OneOf:
//	  concurrent moves   every table shows the row of the largest    Versioned, if no     TestConvergence,
//	                     timestamp, no ghost; the edit of the        edit may be lost     TestConvergenceTies (in tables)
//	                     other writer is lost as a whole
//	  clock skew         the same; a write above a stamp that is     mend the clock       TestStamp, TestTimestampsRise,
//	                     10 s ahead is refused                                            TestRefusals
//	  forgotten stamp    nothing: an update or delete from a before- pass the row as      TestForgottenStampIsRejected,
//	                     image without stamp, or with one in another read or written; or  TestForgottenStampOfASlowClock
//	                     unit, is refused before anything is sent    UnstampedRows
//	  insert after a     nothing of the insert, though it was        a fresh id, or       TestInsertAfterADeleteByAFasterClock
//	  delete by a        acknowledged, until the slower clock has    Versioned
//	  faster clock       passed the delete (any plain set)
//	  expiry             all tables lose the row at one moment       -                    TestConvergenceExpiry (in tables),
//	                                                                                      TestStoredErrorExpires
//	  a row that has     nothing: ErrInvalid, by the writer's clock  a later expiry, or   TestRowThatHasExpiredIsRefused
//	  expired before it                                              Delete
//	  is written
//	SingleWriter:
//	  concurrent moves   a ghost: a row that the base table does     finish each move     TestHotOrders (integration/load/hot)
//	                     not confirm, though both writes were        before the next, or  counts them
//	                     acknowledged                                OneOf
//	immutable:
//	  a change           nothing: refused before anything is sent    declare OneOf        TestRefusals
//
// By the error, in every mode:
//
//	NotApplied           never said of a table that has any part     make the request     TestOutcomesNeverLie,
//	                     of the write; by Resume never said at all:  anew, or Resume      TestOverloadedTableWithView,
//	                     its error may have been delivered before                         TestRedeliveredResumeNeverSaysNotApplied
//	Applied              never said of a table that lacks a part     -                    TestOutcomesNeverLie
//	nil                  every table has acknowledged                -                    TestOutcomesNeverLie
//	OutcomeOf            Unknown for all that may have happened, in  one switch for all   TestOutcomeOf
//	                     part too
//	Resume               the same bytes at the same timestamp,       store the error      TestResumeSendsFrozenValues,
//	                     only to tables that are not Applied         with MarshalBinary   TestResumeSendsTheRest,
//	                                                                                      TestDamagedError
//	  by a wrong writer  nothing is sent: ErrInvalid, and         keep the error       TestStoredErrorOutlivesAWrongConsumer
//	                     Resumable as it was
//	ErrExpired           a write that could bring a deleted row      read, and write      TestResumeExpires
//	                     back is not sent again                      anew
//	ErrNotFound          Modify and Load found no row; nothing sent  answer so            TestFailedReadIsAnError
//	a read that failed   in Modify and Load: NotApplied, nothing     try again            TestFailedReadIsAnError
//	                     sent, and nothing to resume
//	any print of it      no bound value                              -                    TestNothingShowsValues
//
// On three real nodes, 16 writers that change the status of 100 orders for 30 s from before-images that others overtook,
// and resume until nil; findings are ghosts, missing and differing rows, lost writes, false outcomes and unequal WRITETIMEs,
// after all nodes are back (docs/hot-orders.md has the run):
//
//	load                                         acknowledged   findings                  test (integration/load/hot)
//	OneOf, fan-out; clocks skewed by 500 ms      4023; 3354     0; 0                      TestHotOrders
//	OneOf, logged batch; skewed                  5425; 4722     0; 0                      TestHotOrders
//	OneOf, a node silent for 10 s:
//	  fan-out, auto, Logged                      4793, 3707,    0, 0, 0                   TestNodeAwayFromHotOrders
//	                                             2876
//	OneOf, a node killed and started again:
//	  fan-out, auto, Logged                      4907, 3617,    0, 0, 0                   TestNodeAwayFromHotOrders
//	                                             1580
//	OneOf, clients killed, nobody resumes:
//	  Logged (26 kills)                          2226           0                         TestHotOrders
//	  fan-out (43 kills)                         3637           4 ghosts                  TestHotOrders
//	SingleWriter, fan-out; Logged                6553; 5883     41 ghosts; 41 ghosts      TestHotOrders
//	OneOf, Logged, a coordinator stopped when    16 batches     0                         TestNodeStopsBetweenBatchlogAndAnswer
//	  the batchlog had stored it; Resume
//	Versioned, any status, clocks skewed by      4300, 131      0, and no lost update     TestContendedOrders
//	  500 ms, 221 clients killed; 60 s           unknown                                  (integration/load/contended)
//	  beside a compare-and-set and a logged      0.81 times     0; by hand 11 ghosts      TestContendedOrdersByHand
//	  batch by hand, no fault
//	Unique, two users and one e-mail address,    1000 rounds,   never two owners; of 218  TestOneAddressOneOwner
//	  645 clients killed, answers lost           734 signed up  left to nobody, 207 went  (integration/suite/users)
//	                                                            to a third after 1 s, 11
//	                                                            had come late by then
//	Compare, 50 customers for one slot, answers  200 races      one owner each; 40 % of   TestRaceForOneSlot
//	  lost                                                      the answers unknown       (integration/suite/slots)
//
// On the same nodes, all at once: services of two clients each with clocks 1 s apart, nodes killed, stopped for 7 to 27 s and
// restarted in turn, columns added and dropped, 302 clients killed; 26,814 writes, of which 1,102 that failed were stored and delivered
// 2,342 times to other processes. None that was acknowledged was lost, no outcome was false. Left are rows that differ between the tables in the end, each put down to a write that was not
// acknowledged (docs/soak.md has the run, TestNodeFaultsUnderLoad in integration/load/soak makes it):
//
//	load                                         acknowledged   never acknowledged        left
//	OneOf, what fails is resumed, what was in    4929; 4483     0; 0                      0; 0
//	  sender is repeated with At: fan-out; auto
//	OneOf, Logged, dead clients' writes left     3730           51 in sender, 11 unknown  0
//	OneOf, nobody finishes anything:
//	  fan-out                                    4892           51 in sender, 147         13: 2 of writes in sender, 9 of
//	                                                            partial, 26 unknown       partial ones, 2 of unknown ones
//	  auto, with its fallbacks                   4432           52 in sender, 76          6: 5 of partial writes, 1 of an
//	                                                            partial, 246 unknown      unknown one
//	Versioned, with a Unique key                 2451           553                       0
//
// On the in-process Cassandra of package cassandratest, in virtual time, with faults of every kind, each met by at least one write in
// thirty: 1,008,470 writes, a sixth with Hedge; the errors of writes that failed are stored, and delivered late, out of order, more than
// once and to two processes at the same time (docs/simulation.md has the run, TestSimulation in integration/load/simulation makes it). None that
// was acknowledged was lost, no outcome was false; rows that differ in the end are of writes that were not acknowledged:
//
//	load                                         acknowledged   not known                 rows that differ
//	OneOf, resumed, also after a kill: auto      130,631        0                         0
//	  fan-out                                    130,577        0                         0
//	OneOf, Logged, dead clients' writes left     85,006         40,634                    0
//	OneOf, fan-out, nobody finishes anything     95,093         33,367                    689 in sender, 987 partial,
//	                                                                                      427 unknown
//	Versioned, with a Unique key                 62,320         54,703                    0, each once written again;
//	                                                                                      1,420 before
//	Compare, with a Mark                         81,151         41,268                    0
//	Patch, with an expiry                        119,516        282                       0
//	counters, and a row beside them              72,596         45,425                    none counted twice; 4,643 pages have
//	                                                                                      other counts in one table than in
//	                                                                                      the other
//
// In an outage:
//
//	fault                what the writer does                        settings             proved by
//	node silent          each attempt goes to another replica; after Configure,           TestWireSilentNode
//	                     three without an answer the node is asked   SelectHosts
//	                     last, until it answers again
//	node killed          no write fails; batches become fan-outs      Auto                 TestNodeKilled
//	                     until ten trials in a row have worked: the                       (integration/load/outage),
//	                     99th percentile from 2 s on 1.0 times that                       TestOneWriteTriesTheBatchlog
//	                     before, by hand 8.6 times and 687 failed
//	cluster down         retries end when the budget is spent: at    Budget               TestWireOutage,
//	                     most 1.1 requests a path in the first                            TestOutageIsNotMultiplied
//	                     minute at 200 writes a second, 1.05 then
//	scattered errors     retries: with one attempt in ten failing    Retry, Budget        TestScatteredErrorsAreRetried
//	                     99.9 % of the writes succeed
//	driver hangs         the call ends at most 10 ms after its       Timeout              TestWireDeadline,
//	                     context; what is still under way is                              TestCallLeavesStragglers,
//	                     Unknown, and counted; what has not begun                         TestCallLeavesReads,
//	                     is NotApplied, and never sent                                    TestCallGroundsWhatHasNotBegun
//	slow answers         Hedge: a second request to another          Hedge                TestHedge
//	                     replica; the first success wins
//
// # What is not there yet
//
// Nothing reads the tables to compare them: a fan-out whose client was killed stays as it is until the entity is written
// again. Filling a new table (backfill), finding differences (verify) and mending them (repair) are to come. An error of a write with a
// condition that comes out of storage cannot finish what another client has left of the entity, or of the one that it takes a key
// from: it loses nothing, says so, and can be resumed once that entity has been written.
//
// What [Writer.Check] compares, the fingerprint in the comments of tables, finds processes that declare a table otherwise by mistake. It stops
// no attacker: whoever may alter a table may write any comment, and a process that does not call Check, or ignores it, writes as it likes.
// Permissions in Cassandra are what keeps others from writing.
//
// One promise depends on others: Resume must come within half of gc_grace_seconds, and so must the repeat of a request
// with At, which the writer does not check.
package writer
