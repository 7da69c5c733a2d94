package relay

import (
	"container/list"
	"sync"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
)

const (
	challengeLife = time.Minute
	// challengesMax is the number beyond which the oldest is dropped, so a flood of connections uses a bounded amount of
	// memory.
	challengesMax = 100_000
)

// challenges are those that this process has issued and that are still unused. Each can be used once.
type challenges struct {
	clock  Clock
	random func([]byte)

	mu sync.Mutex
	// order has the challenges, the oldest first.
	order *list.List
	index map[string]*list.Element
}

type issuedChallenge struct {
	text   string
	expiry time.Duration
}

func newChallenges(clock Clock, random func([]byte)) *challenges {
	return &challenges{clock: clock, random: random, order: list.New(), index: map[string]*list.Element{}}
}

// issue returns 32 random bytes in base64url.
func (c *challenges) issue() string {
	random := make([]byte, 32)
	c.random(random)
	text := jws.Encode(random)

	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	c.forgetOldest(now)
	c.index[text] = c.order.PushBack(issuedChallenge{text, now + challengeLife})
	return text
}

// use returns true once for each challenge, until it expires.
func (c *challenges) use(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.index[text]
	if !ok {
		return false
	}
	return c.clock.Now() < c.remove(element).expiry
}

func (c *challenges) forgetOldest(now time.Duration) {
	for oldest := c.order.Front(); oldest != nil; oldest = c.order.Front() {
		challenge, _ := oldest.Value.(issuedChallenge)
		if challenge.expiry > now && len(c.index) < challengesMax {
			return
		}
		c.remove(oldest)
	}
}

func (c *challenges) remove(element *list.Element) issuedChallenge {
	challenge, _ := c.order.Remove(element).(issuedChallenge)
	delete(c.index, challenge.text)
	return challenge
}
