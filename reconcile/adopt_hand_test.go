package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"
)

// byHand is a process that writes tickets without the library: each statement has a timestamp of its own, by a clock
// that is wrong, and now and then it dies in the middle of a write.
type byHand struct {
	*desk
	*rand.Rand
	skew time.Duration
}

var handTables = []string{"tickets", "tickets_by_state", "tickets_by_owner"}

// statement is sent by a process that has not died, a moment later than the one before.
func (h *byHand) statement(alive bool, text string, values ...any) {
	if !alive {
		return
	}
	<-time.After(time.Duration(1+h.IntN(20)) * time.Millisecond)
	at := time.Now().Add(h.skew).UnixMicro()
	if strings.HasPrefix(text, "INSERT") {
		text, values = text+" USING TIMESTAMP ?", append(values, at)
	} else {
		values = append([]any{at}, values...)
	}
	if err := h.s.Writes().Query(text, values...).DefaultTimestamp(false).Exec(); err != nil {
		h.t.Errorf("%s: %v", text, err)
	}
}

func (h *byHand) put(alive bool, table string, o ticketRow) {
	h.statement(alive, "INSERT INTO "+table+" (ticket_id,owner,state,note) VALUES (?,?,?,?)", o.TicketID, o.Owner, o.State, o.Note)
}

func (h *byHand) remove(alive bool, table string, o ticketRow) {
	text, values := "DELETE FROM "+table+" USING TIMESTAMP ? WHERE ticket_id=?", []any{o.TicketID}
	switch table {
	case "tickets_by_state":
		text, values = text+" AND state=?", append(values, o.State)
	case "tickets_by_owner":
		text, values = text+" AND owner=? AND state=?", append(values, o.Owner, o.State)
	}
	h.statement(alive, text, values...)
}

// write creates, changes, moves or deletes a ticket of which it has read the row, in tables in a random order.
func (h *byHand) write(before, after *ticketRow) {
	order := slices.Clone(handTables)
	h.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	dies := h.IntN(12) // most do not
	for n, table := range order {
		if before != nil && (after == nil || table != "tickets" && before.State != after.State) {
			h.remove(dies > n, table, *before)
		}
		if after != nil {
			h.put(dies > n, table, *after)
		}
	}
}

// byHand makes tickets, has other processes change them at the same time, and gives their base rows as they are then.
func (d *desk) byHand(count int) {
	var group sync.WaitGroup
	for n := range count {
		group.Go(func() {
			process := func(i int) *byHand {
				r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				return &byHand{d, r, time.Duration(r.IntN(400)-200) * time.Millisecond}
			}
			h := process(0)
			created := ticketRow{TicketID: gocql.MustRandomUUID(), Owner: fmt.Sprint("owner", n%3), State: "new"}
			h.write(nil, &created)
			if n%20 == 0 { // a row that has a key alone
				h.statement(true, "INSERT INTO tickets_by_state (ticket_id,state) VALUES (?,?)", gocql.MustRandomUUID(), "open")
			}
			<-time.After(time.Second)
			var movers sync.WaitGroup
			for i := range 1 + n%3 {
				movers.Go(func() {
					h, after, note := process(i+1), created, fmt.Sprint("note ", i)
					switch h.IntN(6) {
					case 0:
						h.write(&created, nil)
						return
					case 1:
						after.Note = &note
					default:
						after.State, after.Note = []string{"new", "open", "done"}[h.IntN(3)], &note
					}
					h.write(&created, &after)
				})
			}
			movers.Wait()
			d.mu.Lock()
			d.ids = append(d.ids, created.TicketID)
			d.attempted[created.TicketID] = make(map[int64]*ticketRow)
			d.mu.Unlock()
		})
	}
	group.Wait()
}
