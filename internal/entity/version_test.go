package entity_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/gocql/gocql"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, want := range []int64{1, 1_700_000_000_123_456, time.Now().UnixMicro(), 1 << 52} {
		v := entity.Version(want, 0xffff_ffff_ffff_ffff)
		if got := entity.Timestamp(v); got != want || v.Version() != 1 || v.Variant() != gocql.VariantIETF {
			t.Errorf("%s: timestamp %d, want %d", v, got, want)
		}
		if want < 1<<52 && v.Time().UnixMicro() != want {
			t.Errorf("%s: the driver reads %s", v, v.Time())
		}
		if v == entity.Version(want, 0xffff_fffe_ffff_ffff) || v == entity.Version(want, 0xdfff_ffff_ffff_ffff) {
			t.Errorf("%s: some of the random bits are lost", v)
		}
	}
	if got := entity.Timestamp(entity.Version(5, 1<<63)); got != 5 {
		t.Errorf("timestamp %d, want 5", got)
	}
	if got := entity.Timestamp(gocql.UUID{}); got != 0 {
		t.Errorf("zero version: %d", got)
	}
}
