package suite

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/reader"
)

type bucketedLogTests struct{ *Place }

// Logs in ten buckets come in order, page by page; what is updated and deleted is found in its bucket.
func (p bucketedLogTests) Pages(t *testing.T) {
	sensor, start := "temp-001", time.Now()
	var logs []bucketedlogs.Log
	for i := range 40 {
		log := bucketedlogs.Log{SensorID: sensor, Ts: gocql.UUIDFromTime(start.Add(time.Duration(i) * time.Second)), Message: fmt.Sprint(i)}
		Write(t, p.Writer, "log", bucketedlogs.Logs.Insert(log))
		logs = append(logs, log)
	}
	edited := logs[7]
	edited.Message = "edited"
	Write(t, p.Writer, "edit", bucketedlogs.Logs.Update(logs[7], edited))
	Write(t, p.Writer, "delete", bucketedlogs.Logs.Delete(logs[8]))
	logs[7] = edited
	logs = append(logs[:8], logs[9:]...)

	used := p.Session.Reads().Query(`SELECT bucket FROM logs_bucketed WHERE bucket IN (0,1,2,3,4,5,6,7,8,9) AND sensor_id = ?
		PER PARTITION LIMIT 1`, sensor).Iter()
	n := used.NumRows()
	wrong(t, n < 5 || used.Close() != nil, "40 logs in %d buckets", n)
	got, _ := pages(t, func(token reader.Token) ([]bucketedlogs.Log, reader.Token, error) {
		return bucketedlogs.Page(t.Context(), p.Reader, sensor, 6, token)
	})
	wrong(t, fmt.Sprint(got) != fmt.Sprint(logs), "%d logs\n%v, want %d\n%v", len(got), got, len(logs), logs)
}

func (p bucketedLogTests) BadInput(t *testing.T) {
	sensor := "temp-003"
	for i := range 3 {
		log := bucketedlogs.Log{SensorID: sensor, Ts: gocql.TimeUUID(), Message: fmt.Sprint(i)}
		Write(t, p.Writer, "log", bucketedlogs.Logs.Insert(log))
	}
	_, token, err := bucketedlogs.Page(t.Context(), p.Reader, sensor, 2, "")
	must(t, err)
	wantError(t, "the token of another sensor", errorOfRead(bucketedlogs.Page(t.Context(), p.Reader, "temp-002", 2, token)), reader.ErrToken)
	wantError(t, "no token", errorOfRead(bucketedlogs.Page(t.Context(), p.Reader, sensor, 2, "../../etc/passwd")), reader.ErrToken)
	wantError(t, "no sensor", errorOfRead(bucketedlogs.Page(t.Context(), p.Reader, "", 2, "")), reader.ErrInvalid)
}
