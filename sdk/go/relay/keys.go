package relay

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
	"boxoffice.example/boxoffice/sdk/go/relay/internal/web"
)

const (
	// keysFresh is the age at which keys are fetched again. A removed key may be accepted for as long.
	keysFresh = 10 * time.Minute
	// keysUsable is the age up to which keys are used while the service is unavailable.
	keysUsable = time.Hour
	// fetchCooldown is the least time between two fetches, whether the first succeeded or not.
	fetchCooldown = 30 * time.Second
	fetchTimeout  = 5 * time.Second
	keySetMax     = 1 << 20
)

// fixedKeys are keys that were given, and never change.
type fixedKeys struct{ jws.KeySet }

// signingKeys finds the service's signing keys.
type signingKeys interface {
	// get returns the key of a kid, which is any JSON value. Its error is a refusal, or that of the context.
	get(ctx context.Context, kid any) (*ecdsa.PublicKey, error)
	close()
}

// keysFrom returns the keys of a JWKS that was given, or of a URL.
func keysFrom(jwks []byte, url string, client *http.Client, clock Clock) (signingKeys, error) {
	switch {
	case jwks != nil && url != "":
		return nil, errors.New("relay: give JWKS or JWKSURL, not both")
	case jwks != nil:
		keys, err := jws.ReadKeySet(jwks)
		if err != nil {
			return nil, fmt.Errorf("relay: JWKS: %w", err)
		}
		return fixedKeys{keys}, nil
	case url != "":
		return newFetchedKeys(url, client, clock), nil
	}
	return nil, errors.New("relay: JWKS or JWKSURL is required")
}

func (k fixedKeys) get(_ context.Context, kid any) (*ecdsa.PublicKey, error) {
	if key, ok := k.Find(kid); ok {
		return key, nil
	}
	return nil, refuse(TokenUnknownKey)
}

func (fixedKeys) close() {}

// fetchedKeys caches the keys of a URL.
//
// Rotation needs no action by a relay. A new key is published an hour before its first use, so the cache has it in time.
// A token with an unknown key triggers a fetch, at most every 30 seconds.
type fetchedKeys struct {
	url    string
	client *http.Client
	clock  Clock
	// life ends with close.
	life context.Context
	end  func()

	mu      sync.Mutex
	keys    jws.KeySet
	fetched moment
	tried   moment
	failure error
	// flight is closed when the fetch in progress is over; nil while there is none.
	flight chan struct{}
}

// moment is a monotonic time, or never.
type moment struct {
	at    time.Duration
	isSet bool
}

func (m moment) isOlderThan(age, now time.Duration) bool { return !m.isSet || now-m.at >= age }

func newFetchedKeys(url string, client *http.Client, clock Clock) *fetchedKeys {
	life, end := context.WithCancel(context.Background())
	client, closeIdle := web.Client(client, web.Refuse)
	closeAll := func() {
		end()
		closeIdle()
	}
	return &fetchedKeys{url: url, client: client, clock: clock, life: life, end: closeAll}
}

func (f *fetchedKeys) get(ctx context.Context, kid any) (*ecdsa.PublicKey, error) {
	if flight := f.refresh(kid); flight != nil {
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fetched.isOlderThan(keysUsable, f.clock.Now()) {
		return nil, &RefusedError{Code: KeysUnavailable, cause: f.failure}
	}
	return fixedKeys{f.keys}.get(ctx, kid)
}

// refresh starts a fetch if one is needed and allowed. It returns what closes when the fetch in progress is over: one at
// a time, shared by all callers. No caller's context ends it, because the others need it too.
func (f *fetchedKeys) refresh(kid any) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	_, isKnown := f.keys.Find(kid)
	if isKnown && !f.fetched.isOlderThan(keysFresh, now) {
		return nil
	}
	if f.flight == nil && f.tried.isOlderThan(fetchCooldown, now) {
		f.tried = moment{now, true}
		f.flight = make(chan struct{})
		go f.load(f.tried)
	}
	return f.flight
}

// load fetches the keys. A failure keeps the old ones.
func (f *fetchedKeys) load(tried moment) {
	keys, err := f.fetch()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure = err
	if err == nil {
		f.keys, f.fetched = keys, tried
	}
	close(f.flight)
	f.flight = nil
}

func (f *fetchedKeys) fetch() (jws.KeySet, error) {
	ctx, cancel := context.WithTimeout(f.life, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := f.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the key set answers %d", answer.StatusCode)
	}
	text, isLonger, err := web.ReadUpTo(answer.Body, keySetMax)
	if err != nil {
		return nil, err
	}
	if isLonger {
		return nil, errors.New("the key set is too large")
	}
	return jws.ReadKeySet(text)
}

func (f *fetchedKeys) close() {
	f.end()
	f.mu.Lock()
	flight := f.flight
	f.mu.Unlock()
	if flight != nil {
		<-flight
	}
}
