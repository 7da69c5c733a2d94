package relay

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/clocktest"
)

// keyScene is the service's JWKS, the number of its fetches, and a relay that uses it.
type keyScene struct {
	t       *testing.T
	clock   *clocktest.Clock
	relay   *Verifier
	fetches atomic.Int32
	// answer is replaced while no fetch is in progress.
	answer http.HandlerFunc
}

func answerWith(status int, body []byte) http.HandlerFunc {
	return func(answer http.ResponseWriter, _ *http.Request) {
		answer.WriteHeader(status)
		_, _ = answer.Write(body)
	}
}

func newKeyScene(t *testing.T) *keyScene {
	scene := &keyScene{t: t, clock: clocktest.New(time.Unix(nowSeconds, 0)), answer: answerWith(200, testJWKS())}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		scene.fetches.Add(1)
		scene.answer(answer, request)
	}))
	t.Cleanup(server.Close)
	scene.relay = newRelay(t, func(o *VerifierOptions) {
		o.JWKS, o.JWKSURL = nil, server.URL
		o.HTTPClient = server.Client()
		o.Clock = scene.clock
	})
	return scene
}

// arrive returns the refusal of a freshly minted token.
func (s *keyScene) arrive(header object, key keyPair) RefusalCode {
	s.t.Helper()
	_, err := s.relay.Verify(context.Background(), attemptBy(s.relay, s.mint(header, key)))
	return refusalIn(s.t, err)
}

func (s *keyScene) mint(header object, key keyPair) string {
	seconds := s.clock.Wall().Unix()
	claims := tokenClaims(object{"iat": seconds, "nbf": seconds, "exp": seconds + 600})
	return sign(tokenHeader(header), claims, key)
}

func (s *keyScene) wantFetches(want int32) {
	s.t.Helper()
	if got := s.fetches.Load(); got != want {
		s.t.Errorf("%d fetches, want %d", got, want)
	}
}

func TestKeysAreFetchedOnceForManyTokens(t *testing.T) {
	scene := newKeyScene(t)
	var all sync.WaitGroup
	for range 20 {
		attempt := attemptBy(scene.relay, scene.mint(nil, signingKey))
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := scene.relay.Verify(context.Background(), attempt); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	scene.wantFetches(1)
}

func TestKeysServeForTenMinutes(t *testing.T) {
	scene := newKeyScene(t)
	wantCode(t, scene.arrive(nil, signingKey), "")
	scene.answer = answerWith(200, keySetOf(jwkOf(nextKey)))
	scene.clock.Advance(599 * time.Second)
	wantCode(t, scene.arrive(nil, signingKey), "")
	scene.wantFetches(1)
	scene.clock.Advance(time.Second)
	wantCode(t, scene.arrive(nil, signingKey), TokenUnknownKey)
	scene.wantFetches(2)
}

func TestAnUnknownKeyIsAskedForButNotWithin30Seconds(t *testing.T) {
	scene := newKeyScene(t)
	next := object{"kid": nextKey.thumbprint()}
	wantCode(t, scene.arrive(nil, signingKey), "")
	scene.clock.Advance(30 * time.Second)
	wantCode(t, scene.arrive(object{"kid": "nobody"}, signingKey), TokenUnknownKey)
	scene.wantFetches(2)

	scene.answer = answerWith(200, keySetOf(jwkOf(signingKey), jwkOf(nextKey)))
	scene.clock.Advance(30*time.Second - time.Millisecond)
	wantCode(t, scene.arrive(next, nextKey), TokenUnknownKey)
	scene.wantFetches(2)
	scene.clock.Advance(time.Millisecond)
	wantCode(t, scene.arrive(next, nextKey), "")
	wantCode(t, scene.arrive(nil, signingKey), "")
	scene.wantFetches(3)
}

func TestKeysServeForAnHourWithoutTheService(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"away":         away,
		"500":          answerWith(500, []byte("internal error")),
		"no JSON":      answerWith(200, []byte("<html>")),
		"no key set":   answerWith(200, []byte(`{"keys":{}}`)),
		"far too long": answerWith(200, make([]byte, keySetMax+1)),
		"moved":        func(a http.ResponseWriter, r *http.Request) { http.Redirect(a, r, "/keys", http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			scene := newKeyScene(t)
			wantCode(t, scene.arrive(nil, signingKey), "")
			scene.answer = answer
			scene.clock.Advance(time.Hour - time.Second)
			wantCode(t, scene.arrive(nil, signingKey), "")
			scene.clock.Advance(time.Second)
			wantCode(t, scene.arrive(nil, signingKey), KeysUnavailable)
			scene.wantFetches(2)
		})
	}
}

func TestATokenThatExpiresWhileKeysAreFetched(t *testing.T) {
	scene := newKeyScene(t)
	answer := scene.answer
	scene.answer = func(w http.ResponseWriter, r *http.Request) {
		scene.clock.Advance(10 * time.Minute)
		answer(w, r)
	}
	wantCode(t, scene.arrive(nil, signingKey), TokenExpired)
}

func TestAStartWithoutTheService(t *testing.T) {
	scene := newKeyScene(t)
	answer := scene.answer
	scene.answer = answerWith(503, nil)
	wantCode(t, scene.arrive(nil, signingKey), KeysUnavailable)
	wantCode(t, scene.arrive(nil, signingKey), KeysUnavailable)
	scene.wantFetches(1)
	scene.answer = answer
	scene.clock.Advance(30 * time.Second)
	wantCode(t, scene.arrive(nil, signingKey), "")
}

func TestKeysThatArePassedOver(t *testing.T) {
	for name, changes := range map[string]object{
		"of another curve":      {"crv": "P-384"},
		"off the curve":         {"y": nextKey.x},
		"for another algorithm": {"alg": "ES384"},
		"for encryption":        {"use": "enc"},
		"with a private half":   {"d": nextKey.d},
		"without a kid":         {"kid": absent},
	} {
		t.Run(name, func(t *testing.T) {
			relay := newRelay(t, func(o *VerifierOptions) {
				o.JWKS = mustJSON(object{"keys": []any{jwkOf(nextKey, changes), nil, 7, jwkOf(signingKey)}})
			})
			wantCode(t, verify(t, relay, attemptBy(relay, mint())), "")
			token := sign(tokenHeader(object{"kid": nextKey.thumbprint()}), tokenClaims(), nextKey)
			wantCode(t, verify(t, relay, attemptBy(relay, token)), TokenUnknownKey)
		})
	}
}

func TestACancelledCallerLeavesTheFetchToTheOthers(t *testing.T) {
	scene := newKeyScene(t)
	hold := make(chan struct{})
	answer := scene.answer
	scene.answer = func(w http.ResponseWriter, r *http.Request) {
		<-hold
		answer(w, r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	first, second := attemptBy(scene.relay, mint()), attemptBy(scene.relay, mint())
	given := make(chan error, 1)
	go func() {
		_, err := scene.relay.Verify(context.Background(), second)
		given <- err
	}()
	until(t, "a fetch", func() bool { return scene.fetches.Load() == 1 })
	cancel()
	if _, err := scene.relay.Verify(ctx, first); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(hold)
	if err := <-given; err != nil {
		t.Error(err)
	}
	scene.wantFetches(1)
}

func TestCloseEndsAFetch(t *testing.T) {
	scene := newKeyScene(t)
	scene.answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	given := make(chan RefusalCode, 1)
	attempt := attemptBy(scene.relay, mint())
	go func() {
		_, err := scene.relay.Verify(context.Background(), attempt)
		given <- refusalOf(err)
	}()
	until(t, "a fetch", func() bool { return scene.fetches.Load() == 1 })
	scene.relay.Close()
	wantCode(t, <-given, KeysUnavailable)
}
