package soak_test

import (
	"context"
	"fmt"
	"os"
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
	is, err := child.Told(&of)
	if !is {
		os.Exit(m.Run())
	}
	switch over := child.Over(); {
	case err != nil:
	case of.Orders != nil:
		err = of.Orders.Run(context.Background(), over)
	case of.Accounts != nil:
		err = of.Accounts.Run(context.Background(), over)
	case of.Consumer != nil:
		err = of.Consumer.Run(context.Background(), over)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
