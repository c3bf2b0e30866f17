package settings

import (
	"math"
	"sync/atomic"
)

const (
	defaultBudget = 1000 // retries
	defaultEarned = 0.25 // retries for each success
)

// Budget is retry.Budget. A nil one is without limit.
type Budget struct {
	tokens atomic.Int64 // in thousandths
	size   int64
	earned int64
}

const milli = 1000

// NewBudget is retry.NewBudget.
func NewBudget(size int, earned float64) *Budget {
	if size <= 0 {
		size = defaultBudget
	}
	if !(earned > 0) { // so written that NaN is 0
		earned = defaultEarned
	}
	b := &Budget{size: min(int64(size), math.MaxInt64/milli) * milli, earned: int64(math.Ceil(min(earned, 1) * milli))}
	b.tokens.Store(b.size)
	return b
}

// Made says whether NewBudget has made it. One that it has not allows no retry.
func (b *Budget) Made() bool { return b.size > 0 }

// Earn is called for every success.
func (b *Budget) Earn() {
	if b != nil {
		b.put(b.earned)
	}
}

// Put gives back n tokens.
func (b *Budget) Put(n int64) {
	if b != nil {
		b.put(n * milli)
	}
}

// put adds thousandths of a token, as far as there is room for them.
func (b *Budget) put(n int64) {
	// A full bucket, which is what there is while all goes well, costs a read and no write: all cores share the word.
	for have := b.tokens.Load(); have < b.size; have = b.tokens.Load() {
		if b.tokens.CompareAndSwap(have, min(have+n, b.size)) {
			return
		}
	}
}

// Take takes n tokens, or none if there are not as many.
func (b *Budget) Take(n int64) bool {
	if b == nil {
		return true
	}
	for have := b.tokens.Load(); have >= n*milli; have = b.tokens.Load() {
		if b.tokens.CompareAndSwap(have, have-n*milli) {
			return true
		}
	}
	return false
}
