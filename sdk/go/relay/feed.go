package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/wait"
	"boxoffice.example/boxoffice/sdk/go/relay/internal/web"
)

const (
	// answerMax is the longest silence. The service says something every 25 seconds, even without news.
	answerMax = 40 * time.Second
	// retryMax is the longest wait after failures. Snapshots last a minute, so there is time for several attempts.
	retryMax = 5 * time.Second
	// feedRetryAfterMax cuts a longer Retry-After: without snapshots no participant is admitted.
	feedRetryAfterMax = 30 * time.Second
	// nothingNew is the wait after an immediate answer without news, or the end of a stream: all relays may come back at
	// once.
	nothingNew       = time.Second
	snapshotBytesMax = 16 << 20
)

// FeedOptions say which tenants to follow. RelayKey, OnChange, OnError and Random may be called at the same time from several
// goroutines, one for each tenant. They must not call [Feed.Close].
type FeedOptions struct {
	// URL is the base URL of the service.
	URL string
	// Tenants are the ids of the tenants to follow.
	Tenants []string
	// Issuer is iss of the snapshots, as of tokens.
	Issuer string
	// Audience is aud of the snapshots, as of tokens.
	Audience string
	// JWKSURL is the address of the service's keys, which are fetched and kept: /.well-known/jwks.json.
	JWKSURL string
	// JWKS is the keys themselves, a JSON Web Key Set, instead of JWKSURL.
	JWKS []byte
	// RelayKey returns a relay key of the tenant, with which the stream also tells whether the tenant is admitted; "" if
	// there is none. It is called for each stream. Without it, or if it fails, revocations are followed all the same.
	RelayKey func(ctx context.Context, tenant string) (string, error)
	// OnChange is called when revocations changed: check the running sessions of the tenant.
	OnChange func(tenant string, revocations *Revocations)
	// OnBudgets is called when the budgets that are spent changed: end the running sessions for which [Feed.BudgetReached]
	// is true.
	OnBudgets func(tenant string)
	// OnError is called when an attempt failed. It will be retried.
	OnError func(*FeedError)
	// Logger gets the failures as warnings. Default: none.
	Logger *slog.Logger
	// HTTPClient must have no timeout below 30 seconds. It follows no redirections. Default: one with the proxy of the
	// environment.
	HTTPClient *http.Client
	// Clock is for tests.
	Clock Clock
	// Random returns numbers from 0 to 1, for tests.
	Random func() float64
}

// FeedErrorCode says why there are no newer revocations.
type FeedErrorCode string

// Why there are no newer revocations.
const (
	// NoAnswer: there was none, or not in time.
	NoAnswer FeedErrorCode = "NO_ANSWER"
	// BadAnswer: it was not 200, or far too long.
	BadAnswer FeedErrorCode = "BAD_ANSWER"
	// NotValid: not signed by the service, not for this tenant, or not current.
	NotValid FeedErrorCode = "NOT_VALID"
	// Older: older than the current snapshot.
	Older FeedErrorCode = "OLDER"
)

// FeedError is the failure of an attempt to get newer revocations. No action is needed.
type FeedError struct {
	// Code says why.
	Code FeedErrorCode
	// Tenant is that whose revocations were asked for.
	Tenant string
	// Status is the HTTP status of a [BadAnswer].
	Status int
	// RetryAfter is the wait that the service asks for; 0 if it does not.
	RetryAfter time.Duration
	cause      error
}

// Error returns the tenant, the code and the cause.
func (e *FeedError) Error() string {
	text := fmt.Sprintf("no newer revocations of %s: %s", e.Tenant, e.Code)
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause, which may be nil.
func (e *FeedError) Unwrap() error { return e.cause }

// Feed is the current revocations, kept up to date until [Feed.Close].
type Feed struct {
	options FeedOptions
	keys    signingKeys
	client  *http.Client
	stop    context.CancelFunc
	done    chan struct{}

	mu        sync.RWMutex
	snapshots map[string]*Revocations
	admitted  map[string]bool
	reached   map[string][]string
}

// Follow follows the revocations of tenants from now on, until the context ends or [Feed.Close], with one request open
// for each: a stream, or, where an older service or a proxy does not offer it, a long poll. Its error is about the
// options.
//
// A snapshot is accepted only if the service signed it for this tenant, and never if it is older than the current one.
// Failures go to OnError, and are retried within 5 seconds, or after Retry-After, up to 30. Without a fresh snapshot,
// [Verifier] refuses newcomers and renewals; running sessions continue.
func Follow(ctx context.Context, options FeedOptions) (*Feed, error) {
	base, err := url.Parse(options.URL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return nil, errors.New("relay: URL must be an address with http")
	}
	if base.User != nil || base.RawQuery != "" || base.ForceQuery || strings.Contains(options.URL, "#") {
		return nil, errors.New("relay: URL must have no user, query or fragment")
	}
	if options.Issuer == "" || options.Audience == "" {
		return nil, errors.New("relay: Issuer and Audience are required")
	}
	if options.Clock == nil {
		options.Clock = wait.System()
	}
	if options.Random == nil {
		options.Random = rand.Float64
	}
	keys, err := keysFrom(options.JWKS, options.JWKSURL, options.HTTPClient, options.Clock)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	client, closeIdle := web.Client(options.HTTPClient, web.Refuse)
	feed := &Feed{
		options:   options,
		keys:      keys,
		client:    client,
		stop:      stop,
		done:      make(chan struct{}),
		snapshots: map[string]*Revocations{},
		admitted:  map[string]bool{},
		reached:   map[string][]string{},
	}
	go feed.run(ctx, closeIdle)
	return feed, nil
}

// Get returns the newest snapshot of a tenant; nil while there is none. Give it to [VerifierOptions] as Revocations.
func (f *Feed) Get(tenant string) *Revocations {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.snapshots[tenant]
}

// Admitted reports whether the tenant is admitted, as of now. It is not known while no stream with a relay key tells it:
// then that of the usage reporter counts.
func (f *Feed) Admitted(tenant string) (admitted, isKnown bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	admitted, isKnown = f.admitted[tenant]
	return admitted, isKnown
}

// BudgetReached reports whether one of these budgets, those of a token, is spent, as far as a stream with a relay key has
// told. Give it to [VerifierOptions].
func (f *Feed) BudgetReached(tenant string, budgets []string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.ContainsFunc(budgets, func(each string) bool { return slices.Contains(f.reached[tenant], each) })
}

// Close stops following, and waits until no request is in progress.
func (f *Feed) Close() {
	f.stop()
	<-f.done
}

func (f *Feed) run(ctx context.Context, closeIdle func()) {
	var polls sync.WaitGroup
	isFollowed := map[string]bool{}
	for _, tenant := range f.options.Tenants {
		if isFollowed[tenant] {
			continue
		}
		isFollowed[tenant] = true
		polls.Add(1)
		go func() {
			defer polls.Done()
			f.follow(ctx, tenant)
		}()
	}
	polls.Wait()
	f.keys.close()
	closeIdle()
	close(f.done)
}

// follow asks for one tenant until the context ends.
func (f *Feed) follow(ctx context.Context, tenant string) {
	clock := f.options.Clock
	backoff := wait.NewBackoff(f.options.Random, retryMax)
	streamsFrom := clock.Now()
	for ctx.Err() == nil {
		askedAt := clock.Now()
		asked := attempt{tenant: tenant, wantsStream: askedAt >= streamsFrom, begun: backoff.Reset}
		isNew, failure := f.ask(ctx, &asked)
		if ctx.Err() != nil {
			return
		}
		if asked.isNotOffered {
			streamsFrom = clock.Now() + pollsFor
		}
		if failure != nil {
			f.tell(ctx, failure)
			wait.Pause(ctx, clock, backoff.Next(min(failure.RetryAfter, feedRetryAfterMax)))
			continue
		}
		backoff.Reset()
		isHasty := !isNew && clock.Now()-askedAt < nothingNew
		hasEnded := asked.wantsStream && !asked.isNotOffered
		if isHasty || hasEnded {
			wait.Pause(ctx, clock, time.Duration(float64(nothingNew)*f.options.Random()))
		}
	}
}

func (f *Feed) tell(ctx context.Context, failure *FeedError) {
	if f.options.Logger != nil {
		f.options.Logger.WarnContext(ctx, "no newer revocations",
			"tenant", failure.Tenant, "code", failure.Code, "status", failure.Status, "cause", failure.cause)
	}
	if f.options.OnError != nil {
		f.options.OnError(failure)
	}
}

// attempt is one request, and what it is for.
type attempt struct {
	tenant      string
	wantsStream bool
	// begun is called with each event of a stream.
	begun func()
	// isNotOffered becomes true if there is no stream to be had for a while.
	isNotOffered bool
}

// ask asks once. It reports whether that brought news.
func (f *Feed) ask(ctx context.Context, asked *attempt) (isNew bool, failure *FeedError) {
	limit := answerMax
	if asked.wantsStream {
		limit = firstEventMax
	}
	ctx, deadline := newDeadline(ctx, f.options.Clock, limit)
	defer deadline.end()
	hasBegun := !asked.wantsStream
	defer func() {
		if deadline.hasPassed.Load() && !hasBegun {
			asked.isNotOffered = true
		}
	}()
	noAnswer := func(cause error) *FeedError { return &FeedError{Code: NoAnswer, Tenant: asked.tenant, cause: cause} }

	request, err := f.request(ctx, asked)
	if err != nil {
		asked.isNotOffered = asked.wantsStream
		return false, noAnswer(err)
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return false, noAnswer(err)
	}
	defer answer.Body.Close()
	if asked.wantsStream && answer.StatusCode == http.StatusOK && isEventStream(answer) {
		return f.readStream(ctx, answer, asked.tenant, func() {
			hasBegun = true
			deadline.extend(answerMax)
			asked.begun()
		})
	}
	asked.isNotOffered = asked.wantsStream && answer.StatusCode < http.StatusInternalServerError
	body, isLonger, err := web.ReadUpTo(answer.Body, snapshotBytesMax)
	if err != nil {
		return false, noAnswer(err)
	}
	if answer.StatusCode != http.StatusOK || isLonger {
		retryAfter := web.RetryAfter(answer.Header.Get("Retry-After"), f.options.Clock.Wall())
		return false, &FeedError{Code: BadAnswer, Tenant: asked.tenant, Status: answer.StatusCode, RetryAfter: retryAfter}
	}
	return f.accept(ctx, asked.tenant, string(body))
}

func (f *Feed) request(ctx context.Context, asked *attempt) (*http.Request, error) {
	address := strings.TrimRight(f.options.URL, "/") + "/v1/revocations/" + url.PathEscape(asked.tenant)
	if known := f.Get(asked.tenant); known != nil && !asked.wantsStream {
		address += "?after=" + strconv.FormatInt(known.Seq, 10)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || !asked.wantsStream {
		return request, err
	}
	request.Header.Set("Accept", "text/event-stream")
	if f.options.RelayKey == nil {
		return request, nil
	}
	key, err := f.options.RelayKey(ctx, asked.tenant)
	if err != nil {
		return nil, fmt.Errorf("the relay key cannot be read: %w", err)
	}
	if key = strings.TrimSpace(key); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return request, nil
}

// accept keeps a snapshot that is valid. It reports whether it differs from the previous one.
func (f *Feed) accept(ctx context.Context, tenant, text string) (isNew bool, failure *FeedError) {
	snapshot, err := verifySnapshot(ctx, text, expectedSnapshot{
		issuer:   f.options.Issuer,
		audience: f.options.Audience,
		tenant:   tenant,
		keys:     f.keys,
		clock:    f.options.Clock,
	})
	if err != nil {
		return false, &FeedError{Code: NotValid, Tenant: tenant, cause: err}
	}
	return f.keep(tenant, snapshot)
}

// keep replaces the snapshot by a newer one. It reports whether it differs from the previous one.
func (f *Feed) keep(tenant string, snapshot *Revocations) (isNew bool, failure *FeedError) {
	known := f.Get(tenant)
	if known != nil {
		// An expired snapshot was signed before this one, so a smaller number means that numbering restarted.
		isKnownFresh := f.options.Clock.Wall().Before(known.ExpiresAt)
		if isKnownFresh && snapshot.Seq < known.Seq {
			return false, &FeedError{Code: Older, Tenant: tenant}
		}
		if snapshot.Seq == known.Seq && !snapshot.ExpiresAt.After(known.ExpiresAt) {
			return false, nil
		}
	}
	f.mu.Lock()
	f.snapshots[tenant] = snapshot
	f.mu.Unlock()
	if known != nil && known.Seq == snapshot.Seq {
		return false, nil
	}
	if f.options.OnChange != nil {
		f.options.OnChange(tenant, snapshot)
	}
	return true, nil
}
