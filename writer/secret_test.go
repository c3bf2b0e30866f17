package writer

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Errors, plans and what a tracer is told end in logs. None of them may show a bound value, in whatever format.
func TestNothingShowsValues(t *testing.T) {
	t.Parallel()
	const secret = "Kreuzspinne4711"
	type patient struct {
		PatientID gocql.UUID
		Name      string
		Blob      []byte
	}
	set := mustSet[patient](t, "patient",
		tables.Table{Name: "patients", PartKey: []string{"patient_id"}},
		tables.Table{Name: "patients_by_name", PartKey: []string{"name"}, SortKey: []string{"patient_id"}},
		tables.SingleWriter("name"))
	row := patient{PatientID: mustUUID("4b726575-757a-7370-696e-6e6534373131"), Name: secret, Blob: []byte(secret)}
	moved := row
	moved.Name = "other" + secret
	r := &recorder{}
	x := &fakeExecutor{answer: fail("patients_by_name", errSimple, errSyntax)}
	w := fakeWriter(x, traced(r), once(), Concurrent())
	e := failed(t, w, set.Insert(row))
	if !bytes.Contains(boundBytes(x.sent()), []byte(secret)) {
		t.Fatal("the secret was not sent: the test tests nothing")
	}
	_, invalid := w.Write(t.Context(), "op", set.Insert(patient{Name: secret}))
	plan, err := w.Explain("op", set.Update(row, moved))
	if err != nil {
		t.Fatal(err)
	}
	things := map[string]any{
		"error": e, "error by value": *e, "stored error": transport(t, e), "wrapped": fmt.Errorf("op: %w", e),
		"joined": errors.Join(e, e), "invalid": invalid, "tables": e.Tables, "result": e.Tables[1],
		"plan": plan, "plan by value": *plan, "ends": r.ends, "lines": r.lines,
		"values": x.sent()[0].Mutations[0].Args,
	}
	for name, thing := range things {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			wantNoSecret(t, name+" as "+format, fmt.Sprintf(format, thing), secret, row.PatientID)
		}
		text, _ := json.Marshal(thing)
		wantNoSecret(t, name+" as JSON", string(text), secret, row.PatientID)
		var log bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(handler).Info("failed", "thing", thing, slog.Group("group", slog.Any("thing", thing)))
		}
		wantNoSecret(t, name+" in slog", log.String(), secret, row.PatientID)
	}
	data, err := e.MarshalBinary()
	if err != nil || !bytes.Contains(data, []byte(secret)) {
		t.Errorf("MarshalBinary is where the values are: %v", err)
	}
}

// wantNoSecret looks for the secret as it is, and in the forms in which bytes are printed.
func wantNoSecret(t *testing.T, what, text, secret string, id gocql.UUID) {
	t.Helper()
	numbers := strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]")
	for _, form := range []string{
		secret, hex.EncodeToString([]byte(secret)), numbers, strings.ReplaceAll(numbers, " ", ", "),
		base64.StdEncoding.EncodeToString([]byte(secret))[:16], base64.URLEncoding.EncodeToString([]byte(secret))[:16],
		fmt.Sprintf("%#v", []byte(secret))[7:40], id.String(), hex.EncodeToString(id[:]),
		strings.Trim(fmt.Sprintf("%d", id[:]), "[]"), base64.StdEncoding.EncodeToString(id[:])[:16],
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			t.Errorf("%s shows %s:\n%s", what, form, text)
		}
	}
}
