package relay

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/clocktest"
)

func kick() object { return object{"epochs": []any{[]any{hashed("epoch", roomUID, "ann"), 4}}} }

func snapshotWith(header object, key keyPair, changes ...object) string {
	claims := with(object{
		"iss": testIssuer, "aud": audience, "tid": tenant, "seq": 7, "iat": nowSeconds, "exp": nowSeconds + 60,
		"epochs": []any{}, "bans": []any{}, "mutes": []any{}, "closed": []any{},
	}, changes...)
	return sign(with(object{"alg": "ES256", "kid": kid, "typ": "revocations+jwt"}, header), claims, key)
}

func snapshot(changes ...object) string {
	return snapshotWith(nil, signingKey, changes...)
}

// feedScene is a service that gives answers, one for each poll, then none; and a relay that follows it.
type feedScene struct {
	clock *clocktest.Clock
	feed  *Feed
	logs  bytes.Buffer

	mu      sync.Mutex
	answers []http.HandlerFunc
	asked   []string
	errors  []*FeedError
	changes []string
}

func text(body string) http.HandlerFunc { return answerWith(200, []byte(body)) }

// away breaks the connection in the middle of an answer. Before one, Go's client would ask again by itself.
func away(answer http.ResponseWriter, _ *http.Request) {
	answer.Header().Set("Content-Length", "100")
	_, _ = answer.Write([]byte("a part"))
	_ = http.NewResponseController(answer).Flush()
	panic(http.ErrAbortHandler)
}

func follow(t *testing.T, answers ...http.HandlerFunc) *feedScene {
	return followTenants(t, []string{tenant}, answers...)
}

func followTenants(t *testing.T, tenants []string, answers ...http.HandlerFunc) *feedScene {
	t.Helper()
	scene := &feedScene{clock: clocktest.New(time.Unix(nowSeconds, 0)), answers: answers}
	server := httptest.NewServer(http.HandlerFunc(scene.answer))
	t.Cleanup(server.Close)
	feed, err := Follow(context.Background(), FeedOptions{
		URL:        server.URL,
		Tenants:    tenants,
		Issuer:     testIssuer,
		Audience:   audience,
		JWKS:       testJWKS(),
		HTTPClient: server.Client(),
		RelayKey:   func(context.Context, string) (string, error) { return "the-key\n", nil },
		Clock:      scene.clock,
		Random:     func() float64 { return 1 },
		Logger:     slog.New(slog.NewTextHandler(&lockedWriter{mu: &scene.mu, to: &scene.logs}, nil)),
		OnChange: func(tenant string, r *Revocations) {
			scene.mu.Lock()
			defer scene.mu.Unlock()
			scene.changes = append(scene.changes, fmt.Sprintf("%s %d", tenant, r.Seq))
		},
		OnError: func(failure *FeedError) {
			scene.mu.Lock()
			defer scene.mu.Unlock()
			scene.errors = append(scene.errors, failure)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	scene.feed = feed
	t.Cleanup(feed.Close)
	return scene
}

type lockedWriter struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func (s *feedScene) answer(answer http.ResponseWriter, request *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, request.URL.RequestURI())
	var next http.HandlerFunc
	if len(s.answers) > 0 {
		next, s.answers = s.answers[0], s.answers[1:]
	}
	s.mu.Unlock()
	if next == nil {
		<-request.Context().Done()
		return
	}
	next(answer, request)
}

func (s *feedScene) askedFor() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.asked...)
}

func (s *feedScene) failures() []*FeedError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*FeedError{}, s.errors...)
}

func (s *feedScene) changed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.changes, ", ")
}

func (s *feedScene) untilFailures(t *testing.T, count int) {
	t.Helper()
	until(t, fmt.Sprintf("%d failures", count), func() bool { return len(s.failures()) == count })
}

func (s *feedScene) untilSeq(t *testing.T, seq int64) {
	t.Helper()
	until(t, fmt.Sprintf("snapshot %d", seq), func() bool {
		known := s.feed.Get(tenant)
		return known != nil && known.Seq == seq
	})
}

// untilWaiting waits until the feed pauses for this time. It does not while a poll is open, which waits for 40 seconds.
func (s *feedScene) untilWaiting(t *testing.T, d time.Duration) {
	t.Helper()
	until(t, fmt.Sprintf("a wait of %s", d), func() bool {
		return reflect.DeepEqual(s.clock.Timers(), []time.Duration{d})
	})
}

const feedPath = "/v1/revocations/" + tenant

func TestFollowChecksItsAddress(t *testing.T) {
	for _, address := range []string{"billing", "file:///etc", "https://x.example?a", "https://x.example/?", "https://x.example/#a", "https://ann@x.example"} {
		feed, err := Follow(t.Context(), FeedOptions{URL: address, Issuer: testIssuer, Audience: audience, JWKS: testJWKS()})
		if err == nil || !strings.Contains(err.Error(), "URL must") {
			t.Errorf("%s: error %v", address, err)
		}
		if feed != nil {
			feed.Close()
		}
	}
}

func TestFollowAsksForTheFirstSnapshotThenForNewerOnes(t *testing.T) {
	scene := follow(t, text(snapshot()), text(snapshot(object{"seq": 9}, kick())))
	want := []string{feedPath, feedPath + "?after=7", feedPath + "?after=9"}
	until(t, "three polls", func() bool { return reflect.DeepEqual(scene.askedFor(), want) })
	known := scene.feed.Get(tenant)
	if known.Seq != 9 || known.Epochs[0].Epoch != 4 || scene.feed.Get("t_0000000000000000") != nil {
		t.Errorf("got %+v", known)
	}
	if got := scene.changed(); got != tenant+" 7, "+tenant+" 9" || len(scene.failures()) != 0 {
		t.Errorf("changes %s, failures %v", got, scene.failures())
	}
}

func TestAVerifierWithAFeed(t *testing.T) {
	scene := follow(t, text(snapshot(kick())))
	empty := follow(t)
	arrive := func(feed *Feed, epoch int) RefusalCode {
		relay := newRelay(t, func(o *VerifierOptions) { o.Revocations = feed.Get })
		return verify(t, relay, attemptBy(relay, mint(object{"ep": epoch})))
	}
	wantCode(t, arrive(empty.feed, 4), RevocationsStale)
	scene.untilSeq(t, 7)
	wantCode(t, arrive(scene.feed, 3), TokenRevoked)
	wantCode(t, arrive(scene.feed, 4), "")
}

func TestAnEqualSnapshotExtendsTheExpiry(t *testing.T) {
	scene := follow(t, text(snapshot()), text(snapshot(object{"exp": nowSeconds + 85})))
	until(t, "the later expiry", func() bool {
		known := scene.feed.Get(tenant)
		return known != nil && known.ExpiresAt.Unix() == nowSeconds+85
	})
	// It came at once, so polls of a service that does not wait are paused.
	scene.untilWaiting(t, time.Second)
	if scene.changed() != tenant+" 7" || len(scene.askedFor()) != 2 {
		t.Errorf("changes %s, asked %v", scene.changed(), scene.askedFor())
	}
	scene.clock.Advance(time.Second)
	until(t, "the third poll", func() bool { return len(scene.askedFor()) == 3 })
}

func TestASnapshotThatExpiresSoonerIsIgnored(t *testing.T) {
	scene := follow(t, text(snapshot()), text(snapshot(object{"exp": nowSeconds + 55})))
	scene.untilWaiting(t, time.Second)
	if got := scene.feed.Get(tenant).ExpiresAt.Unix(); got != nowSeconds+60 {
		t.Errorf("expires at %d", got)
	}
}

func TestSnapshotsThatAreRefused(t *testing.T) {
	unsigned := snapshotWith(object{"alg": "none"}, signingKey, kick())
	for name, bad := range map[string]string{
		"text that is no JWS":         "no",
		"a signature by another key":  snapshotWith(nil, thiefKey, kick()),
		"an unknown key":              snapshotWith(object{"kid": "thief"}, thiefKey, kick()),
		"a key of its own":            snapshotWith(object{"jwk": thiefKey.public()}, thiefKey, kick()),
		"a header with more in it":    snapshotWith(object{"cty": "JWT"}, signingKey, kick()),
		"alg none":                    unsigned[:strings.LastIndex(unsigned, ".")+1],
		"alg ES384":                   snapshotWith(object{"alg": "ES384"}, signingKey, kick()),
		"a participant token":         mint(),
		"another type":                snapshotWith(object{"typ": "JWT"}, signingKey, kick()),
		"another issuer":              snapshot(object{"iss": "https://other.example"}),
		"another audience":            snapshot(object{"aud": "relay:other.example"}),
		"another tenant":              snapshot(object{"tid": "t_0000000000000000"}),
		"one that has ended":          snapshot(object{"exp": nowSeconds}),
		"no number":                   snapshot(object{"seq": absent}),
		"a ban of an unknown kind":    snapshot(object{"bans": []any{[]any{"*", "country", "AQ", nil}}}),
		"a range in plain text":       snapshot(object{"bans": []any{[]any{"*", "range", "192.0.2.0/24", nil}}}),
		"a range without a length":    snapshot(object{"bans": []any{[]any{"*", "range", strings.Repeat("A", 22), nil}}}),
		"a closed room is a number":   snapshot(object{"closed": []any{1}}),
		"reasons of another form":     snapshot(object{"reasons": []any{[]any{"x"}}}),
		"a payload that is no object": sign(object{"alg": "ES256", "kid": kid, "typ": "revocations+jwt"}, []any{}, signingKey),
	} {
		t.Run(name, func(t *testing.T) {
			scene := follow(t, text(snapshot(object{"seq": 5})), text(bad))
			scene.untilFailures(t, 1)
			failure := scene.failures()[0]
			if failure.Code != NotValid || failure.Tenant != tenant {
				t.Errorf("got %v", failure)
			}
			if scene.feed.Get(tenant).Seq != 5 || scene.changed() != tenant+" 5" {
				t.Errorf("changes %s", scene.changed())
			}
		})
	}
}

func TestReasonsAndMembersOfLaterVersions(t *testing.T) {
	user := hashed("epoch", roomUID, "ann")
	later := object{"reasons": []any{[]any{user, "eclipse"}}, "later": 1}
	scene := follow(t, text(snapshot(kick(), later)))
	scene.untilSeq(t, 7)
	if got := scene.feed.Get(tenant).Reasons; !reflect.DeepEqual(got, []ReasonOf{{user, "eclipse"}}) {
		t.Errorf("got %v", got)
	}
}

func TestAnOlderSnapshotIsRefusedWhileTheCurrentOneIsFresh(t *testing.T) {
	scene := follow(t, text(snapshot(kick())), text(snapshot(object{"seq": 6, "exp": nowSeconds + 61})))
	scene.untilFailures(t, 1)
	if scene.failures()[0].Code != Older || scene.feed.Get(tenant).Seq != 7 {
		t.Errorf("got %v", scene.failures())
	}
}

func TestNumberingMayRestartOnceTheSnapshotHasExpired(t *testing.T) {
	later := snapshot(object{"seq": 2, "iat": nowSeconds + 61, "exp": nowSeconds + 121})
	scene := follow(t, text(snapshot()), away, text(later))
	scene.untilFailures(t, 1)
	scene.untilWaiting(t, 500*time.Millisecond)
	scene.clock.SetWall(time.Unix(nowSeconds+61, 0))
	scene.clock.Advance(500 * time.Millisecond)
	scene.untilSeq(t, 2)
}

func TestFollowAsksAgain(t *testing.T) {
	for name, each := range map[string]struct {
		answer http.HandlerFunc
		code   FeedErrorCode
		status int
	}{
		"after no answer":    {away, NoAnswer, 0},
		"after 500":          {answerWith(500, nil), BadAnswer, 500},
		"after 404":          {answerWith(404, nil), BadAnswer, 404},
		"after 204":          {answerWith(204, nil), BadAnswer, 204},
		"after far too much": {answerWith(200, make([]byte, snapshotBytesMax+1)), BadAnswer, 200},
		"after a redirection": {
			func(a http.ResponseWriter, r *http.Request) { http.Redirect(a, r, "/", http.StatusFound) }, NoAnswer, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			scene := follow(t, each.answer, each.answer, text(snapshot()))
			scene.untilFailures(t, 1)
			if got := scene.failures()[0]; got.Code != each.code || got.Status != each.status {
				t.Errorf("got %+v", got)
			}
			scene.untilWaiting(t, 500*time.Millisecond)
			scene.clock.Advance(500 * time.Millisecond)
			scene.untilWaiting(t, time.Second)
			scene.clock.Advance(time.Second)
			scene.untilSeq(t, 7)
			until(t, "four polls", func() bool { return len(scene.askedFor()) == 4 })
			if logs := scene.logs.String(); !strings.Contains(logs, string(each.code)) {
				t.Errorf("logged %s", logs)
			}
		})
	}
}

func TestFollowWaitsNoLongerThanItShould(t *testing.T) {
	patience := func(seconds string) http.HandlerFunc {
		return func(answer http.ResponseWriter, _ *http.Request) {
			answer.Header().Set("Retry-After", seconds)
			answer.WriteHeader(http.StatusTooManyRequests)
		}
	}
	scene := follow(t, away, away, away, away, away, away, patience("12"), patience("3600"))
	for index, ms := range []int{500, 1000, 2000, 4000, 5000, 5000, 12_000, 30_000} {
		scene.untilFailures(t, index+1)
		scene.untilWaiting(t, time.Duration(ms)*time.Millisecond)
		scene.clock.Advance(time.Duration(ms) * time.Millisecond)
	}
}

func TestFollowWaits40SecondsForASilentService(t *testing.T) {
	scene := follow(t, text(snapshot()))
	until(t, "a poll", func() bool { return len(scene.askedFor()) == 2 })
	scene.untilWaiting(t, 40*time.Second)
	scene.clock.Advance(40 * time.Second)
	scene.untilFailures(t, 1)
	if got := scene.failures()[0].Code; got != NoAnswer {
		t.Errorf("got %s", got)
	}
}

func TestFollowFollowsEachTenantUntilItIsClosed(t *testing.T) {
	other := "t_0000000000000001"
	scene := followTenants(t, []string{tenant, other, tenant})
	until(t, "two polls", func() bool { return len(scene.askedFor()) == 2 })
	scene.feed.Close()
	scene.feed.Close()
	if len(scene.askedFor()) != 2 || len(scene.failures()) != 0 || len(scene.clock.Timers()) != 0 {
		t.Errorf("asked %v, failures %v, timers %v", scene.askedFor(), scene.failures(), scene.clock.Timers())
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	feed, err := Follow(ctx, FeedOptions{
		URL: server.URL, Tenants: []string{tenant}, Issuer: testIssuer, Audience: audience, JWKSURL: server.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-feed.done
}

func TestFollowChecksItsOptions(t *testing.T) {
	for name, change := range map[string]func(*FeedOptions){
		"an address without a scheme": func(o *FeedOptions) { o.URL = "boxoffice.example" },
		"an address of another kind":  func(o *FeedOptions) { o.URL = "ftp://boxoffice.example" },
		"no issuer":                   func(o *FeedOptions) { o.Issuer = "" },
		"no audience":                 func(o *FeedOptions) { o.Audience = "" },
		"no keys":                     func(o *FeedOptions) { o.JWKS = nil },
		"keys of nothing":             func(o *FeedOptions) { o.JWKS = []byte("[]") },
	} {
		options := FeedOptions{URL: testIssuer, Issuer: testIssuer, Audience: audience, JWKS: testJWKS()}
		change(&options)
		if _, err := Follow(context.Background(), options); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// stream answers with the events, and then waits until the client or the test ends it.
func stream(end <-chan struct{}, events ...string) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		answer.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = answer.Write([]byte(strings.Join(events, "")))
		_ = http.NewResponseController(answer).Flush()
		select {
		case <-end:
		case <-request.Context().Done():
		}
	}
}

func sent(event, data string) string { return "event: " + event + "\ndata: " + data + "\n\n" }

func TestFollowReadsAStream(t *testing.T) {
	end := make(chan struct{})
	scene := follow(t,
		stream(end, sent("revocations", snapshot()), sent("later", "something"), sent("revocations", snapshot(object{"seq": 9}, kick()))),
		stream(nil, sent("revocations", snapshot(object{"seq": 10}))),
	)
	scene.untilSeq(t, 9)
	if got := scene.changed(); got != tenant+" 7, "+tenant+" 9" {
		t.Errorf("changes %s", got)
	}
	// All relays may come back at once.
	close(end)
	scene.untilWaiting(t, time.Second)
	scene.clock.Advance(time.Second)
	scene.untilSeq(t, 10)
	if asked := scene.askedFor(); !reflect.DeepEqual(asked, []string{feedPath, feedPath}) || len(scene.failures()) != 0 {
		t.Errorf("asked %v, failures %v", asked, scene.failures())
	}
}

func TestAStreamWithARelayKeyTellsWhetherTheTenantIsAdmitted(t *testing.T) {
	end := make(chan struct{})
	var header http.Header
	answer := stream(end, sent("revocations", snapshot()), sent("admitted", `{"admitted":true}`), sent("admitted", `{"admitted":false}`))
	scene := followTenants(t, []string{tenant}, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		answer(w, r)
	})
	until(t, "admitted", func() bool {
		admitted, isKnown := scene.feed.Admitted(tenant)
		return isKnown && !admitted
	})
	if header.Get("Authorization") != "Bearer the-key" || header.Get("Accept") != "text/event-stream" {
		t.Errorf("got %v", header)
	}
	if _, isKnown := scene.feed.Admitted("t_0000000000000000"); isKnown {
		t.Error("another tenant is known")
	}
	close(end)
	until(t, "not known", func() bool { _, isKnown := scene.feed.Admitted(tenant); return !isKnown })
}

func TestAStreamWithARelayKeyTellsWhichBudgetsAreSpent(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	scene := followTenants(t, []string{tenant}, stream(end,
		sent("revocations", snapshot()),
		sent("admitted", `{"admitted":true}`),
		sent("admitted", `{"admitted":true,"reached_budgets":["bu_1","bu_2"]}`),
	))
	until(t, "reached", func() bool { return scene.feed.BudgetReached(tenant, []string{"bu_0", "bu_2"}) })
	if scene.feed.BudgetReached(tenant, []string{"bu_0"}) || scene.feed.BudgetReached("t_0000000000000000", []string{"bu_1"}) {
		t.Error("another budget is reached")
	}
}

func TestAStreamThatFailsIsOpenedAgain(t *testing.T) {
	lost := func(answer http.ResponseWriter, request *http.Request) {
		answer.Header().Set("Content-Type", "text/event-stream")
		_, _ = answer.Write([]byte(sent("revocations", snapshot())))
		away(answer, request)
	}
	scene := follow(t, lost,
		stream(nil, sent("revocations", snapshot(object{"seq": 8}))),
		stream(nil, sent("revocations", snapshotWith(nil, thiefKey, kick()))),
		stream(nil, sent("revocations", snapshot(object{"seq": 9}))),
	)
	scene.untilFailures(t, 1)
	scene.untilWaiting(t, 500*time.Millisecond)
	scene.clock.Advance(500 * time.Millisecond)
	scene.untilSeq(t, 8)
	scene.untilWaiting(t, 40*time.Second)
	scene.clock.Advance(40 * time.Second)
	scene.untilFailures(t, 2)
	scene.untilWaiting(t, 500*time.Millisecond)
	scene.clock.Advance(500 * time.Millisecond)
	scene.untilFailures(t, 3)
	if got := scene.failures()[2].Code; got != NotValid {
		t.Errorf("got %s", got)
	}
}

func TestPollsFollowWhereThereIsNoStream(t *testing.T) {
	for name, first := range map[string]http.HandlerFunc{
		"an older service": text(snapshot()),
		"a refused key":    answerWith(401, nil),
		"a proxy that keeps it to itself": func(_ http.ResponseWriter, request *http.Request) {
			<-request.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			scene := follow(t, first, text(snapshot(object{"seq": 8})), text(snapshot(object{"seq": 9})))
			// Given up on its way, it would leave its answer to the next request.
			until(t, "a request", func() bool { return len(scene.askedFor()) > 0 })
			for scene.feed.Get(tenant) == nil || scene.feed.Get(tenant).Seq < 9 {
				for _, timer := range scene.clock.Timers() {
					if timer < 40*time.Second {
						scene.clock.Advance(timer)
					}
				}
				time.Sleep(time.Millisecond)
			}
			until(t, "four requests", func() bool { return len(scene.askedFor()) == 4 })
			asked := scene.askedFor()
			if asked[0] != feedPath || asked[3] != feedPath+"?after=9" {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
