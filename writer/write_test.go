package writer

import (
	"context"
	"testing"
)

func TestSmoke(t *testing.T) {
	x := &fakeExecutor{}
	w := fakeWriter(x)
	s := orderSet(t)
	o := newOrder(Open)
	res, err := w.Write(context.Background(), "createOrder", s.Insert(o))
	t.Log(res, err, len(x.sent()))
	o.UpdatedAt = res.Timestamp
	p := o
	p.Status = Paid
	res, err = w.Write(context.Background(), "payOrder", s.Update(o, p))
	t.Log(res, err, len(x.sent()))
	for _, c := range []any{0} {
		_ = c
	}
	pl, err := w.Explain("createOrder", s.Insert(o))
	t.Log(pl, err)
	pl, err = w.Explain("payOrder", s.Update(o, p))
	t.Log(pl, err)
}

func BenchmarkWrite(b *testing.B) {
	w := fakeWriter(nopExecutor{})
	s := orderSet(b)
	o := newOrder(Open)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Write(context.Background(), "createOrder", s.Insert(o)); err != nil {
			b.Fatal(err)
		}
	}
}

type nopExecutor struct{}

func (nopExecutor) execute(context.Context, request) error { return nil }
