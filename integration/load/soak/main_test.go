package soak_test

import (
	"context"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/integration/load/soak"
)

// told is what a client process is told: one of them.
type told struct {
	Orders   *hot.Client         `json:"orders,omitempty"`
	Accounts *soak.AccountClient `json:"accounts,omitempty"`
	Consumer *soak.Consumer      `json:"consumer,omitempty"`
}

func TestMain(m *testing.M) {
	var of told
	child.Main(m, &of, func(ctx context.Context) error {
		switch {
		case of.Orders != nil:
			return of.Orders.Run(ctx)
		case of.Accounts != nil:
			return of.Accounts.Run(ctx)
		}
		return of.Consumer.Run(ctx)
	})
}
