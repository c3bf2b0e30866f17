package writer_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// player is a member of a club or of none, and has a row by club in the keyspace of clubs.
type player struct {
	PlayerID gocql.UUID
	Name     string
	Club     *string
	Version  gocql.UUID
}

var players = tables.Must(tables.New[player]("player",
	tables.Table{Name: "players", PartKey: []string{"player_id"}},
	tables.Table{Name: "players_by_club", Keyspace: "clubs", PartKey: []string{"club"}, SortKey: []string{"player_id"}},
	tables.Versioned("version"),
))

// A change of a set with conditions brings the query tables what other clients have left, also those in which its own rows have no
// place. So with StrictKeyspaces all tables of the set have to be in the map, and no row goes to the session's keyspace, which may be
// another tenant's.
func TestStrictKeyspacesOfAllTables(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		for _, keyspace := range []string{"shop", "tenant"} {
			made := schema.Must(schema.Declare(schema.Sets(players))).In(map[string]string{"": keyspace, "clubs": keyspace}).Statements()
			c.Create(slices.DeleteFunc(made, func(text string) bool { return keyspace == "shop" && !strings.Contains(text, "TABLE shop.") })...)
		}
		mapped := map[string]string{"": "tenant", "clubs": "tenant"}
		strict := connect(t, c, session.StrictKeyspaces())
		strictly := openOn(t, strict)
		in := func(mapped map[string]string) *writer.Writer {
			return strictly.With(writer.Session(strict.With(session.Keyspaces(mapped))))
		}
		whole := in(mapped)
		club, none := "chess", player{PlayerID: gocql.MustRandomUUID(), Name: "a"}
		res, err := whole.Write(t.Context(), "come", players.Insert(none))
		if err != nil {
			t.Fatal(err)
		}
		none.Version = res.Version
		chess, renamed := none, none
		chess.Club, renamed.Name = &club, "b"
		away := c.When(cassandratest.Table("players_by_club")).Do(unavailable)
		_, err = whole.Write(t.Context(), "join", players.Update(none, chess)) // and its client dies
		away.End()
		joined := failedWrite(t, err)
		for _, missing := range slices.Sorted(maps.Keys(mapped)) {
			misspelt := maps.Clone(mapped)
			delete(misspelt, missing)
			w := in(misspelt)
			for name, change := range map[string]tables.Change{
				"insert": players.Insert(player{PlayerID: gocql.MustRandomUUID(), Name: "c"}), "update": players.Update(none, renamed), "delete": players.Delete(none),
			} {
				if _, err := w.Write(t.Context(), name, change); !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "is not in the map of session.Keyspaces") {
					t.Errorf("%s without keyspace %q: %v", name, missing, err)
				}
			}
		}
		if _, err := in(map[string]string{"": "tenant"}).Resume(t.Context(), again(joined)); err != nil {
			t.Error("resumed:", err) // to the keyspaces that the error has
		}
		if here, there := s.count(t, "SELECT count(*) FROM shop.players_by_club"), s.count(t, "SELECT count(*) FROM tenant.players_by_club"); here != 0 || there != 1 {
			t.Errorf("%d rows in the keyspace of the session, %d in the tenant's", here, there)
		}
	})
}
