package session

import (
	"context"
	"testing"
	"time"

	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

func TestConfigure(t *testing.T) {
	t.Parallel()
	c := gocql.NewCluster("127.0.0.1")
	c.Keyspace, c.RetryPolicy = "shop", &gocql.SimpleRetryPolicy{NumRetries: 3}
	c.Authenticator = gocql.PasswordAuthenticator{Username: "shop"}
	if Configure(c, "dc1") != c {
		t.Fatal("another config is returned")
	}
	if c.ProtoVersion != 4 || c.RetryPolicy == nil || c.RetryPolicy.Attempt(nil) || c.DefaultTimestamp ||
		c.Consistency != gocql.LocalQuorum {
		t.Errorf("protocol %d, retry policy %v, default timestamp %v, consistency %v", c.ProtoVersion, c.RetryPolicy,
			c.DefaultTimestamp, c.Consistency)
	}
	if c.Timeout <= 5*time.Second || c.ReconnectInterval > 5*time.Second || c.MaxPreparedStmts <= 1000 ||
		c.MaxRoutingKeyInfo <= 1000 {
		t.Errorf("timeout %v, reconnect %v, %d statements, %d routing keys", c.Timeout, c.ReconnectInterval,
			c.MaxPreparedStmts,
			c.MaxRoutingKeyInfo)
	}
	if c.Keyspace != "shop" || c.Authenticator == nil || c.Hosts[0] != "127.0.0.1" {
		t.Error("what is the caller's was changed")
	}
	if c.HostFilter == nil {
		t.Error("remote datacentres are not kept out: their LOCAL_QUORUM is another one")
	}
	if Configure(gocql.NewCluster("127.0.0.1"), "").HostFilter != nil {
		t.Error("without a datacentre some hosts are kept out")
	}
}

// A service makes two sessions from one config, as the README says. The second one panicked, because both had the same
// host selection policy.
func TestConfigureForTwoSessions(t *testing.T) {
	t.Parallel()
	c := gocql.NewCluster("127.0.0.1")
	first := Configure(c, "").PoolConfig.HostSelectionPolicy
	if second := Configure(c, "").PoolConfig.HostSelectionPolicy; second == first {
		t.Error("two sessions would share a policy")
	}
}

// The driver waits for a socket without a look at contexts: that must end before an attempt does.
func TestConfigureWriteTimeout(t *testing.T) {
	t.Parallel()
	c := Configure(gocql.NewCluster("127.0.0.1"), "")
	if limit := (retry.Policy{}).WithDefaults().AttemptTimeout; c.WriteTimeout <= 0 || c.WriteTimeout >= limit {
		t.Errorf("WriteTimeout is %v, an attempt takes %v", c.WriteTimeout, limit)
	}
}

// An observer of the user's goes on seeing everything, once, however often Configure is called.
func TestConfigureKeepsObserver(t *testing.T) {
	t.Parallel()
	var own headers
	c := gocql.NewCluster("127.0.0.1")
	c.FrameHeaderObserver = &own
	for range 3 {
		Configure(c, "")
	}
	c.FrameHeaderObserver.ObserveFrameHeader(t.Context(), gocql.ObservedFrameHeader{})
	if own != 1 {
		t.Errorf("a header is seen %d times", own)
	}
}

type headers int

func (h *headers) ObserveFrameHeader(context.Context, gocql.ObservedFrameHeader) { *h++ }

// What the wrapped policy says of near and far is what counts, also for policies around this one.
func TestSelectHosts(t *testing.T) {
	t.Parallel()
	c := gocql.NewCluster("127.0.0.1")
	SelectHosts(c, gocql.RackAwareRoundRobinPolicy("dc1", "rack1"))
	tierer, ok := c.PoolConfig.HostSelectionPolicy.(gocql.HostTierer)
	if !ok || tierer.MaxHostTier() != 2 || tierer.HostTier(new(gocql.HostInfo)) != 2 {
		t.Error("the tiers of racks are lost")
	}
	SelectHosts(c, gocql.DCAwareRoundRobinPolicy("dc1"))
	tierer, ok = c.PoolConfig.HostSelectionPolicy.(gocql.HostTierer)
	if !ok || tierer.MaxHostTier() != 1 || tierer.HostTier(new(gocql.HostInfo)) != 1 {
		t.Error("another datacentre is near")
	}
	if c.FrameHeaderObserver == nil {
		t.Error("signs of life are not seen")
	}
}
