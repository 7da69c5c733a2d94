package boxoffice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

func TestRetryWithOneIdempotencyKey(t *testing.T) {
	busy := refusal{code: connect.CodeUnavailable, reason: ReasonUnavailable, retryDelay: 120 * time.Millisecond}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	client, s := clientOf(t, Options{Logger: logger}, busy.step, busy.step, giveNewRoom)
	begun := time.Now()
	room, err := client.Rooms.Create(t.Context(), CreateRoom{Room: "lobby"})
	if err != nil || room.Name != "lobby" {
		t.Fatalf("room %v, error %v", room, err)
	}
	if waited := time.Since(begun); waited < 240*time.Millisecond {
		t.Errorf("waited only %v", waited)
	}
	keys := s.texts("idempotency_key")
	if len(keys) != 3 || len(slices.Compact(keys)) != 1 || len(keys[0]) < 20 {
		t.Errorf("idempotency keys: %q", keys)
	}
	first := s.received()[0]
	if first.text("tenant") != testTenant || first.authorization != "Bearer "+testKey {
		t.Errorf("first request: %v", first)
	}
	if count := bytes.Count(log.Bytes(), []byte("call=CreateRoom")); count != 2 || bytes.Contains(log.Bytes(), []byte(testSecret)) {
		t.Errorf("log: %s", log.String())
	}
}

func TestEveryMutationHasItsOwnKey(t *testing.T) {
	client, s := clientOf(t, Options{}, giveNewRoom)
	for _, options := range [][]CallOption{nil, nil, {IdempotencyKey("mine")}} {
		if _, err := client.Rooms.Create(t.Context(), CreateRoom{Room: "lobby"}, options...); err != nil {
			t.Fatal(err)
		}
	}
	keys := s.texts("idempotency_key")
	if keys[0] == keys[1] || keys[2] != "mine" {
		t.Errorf("idempotency keys: %q", keys)
	}
	for _, key := range []string{"", "a\n", "ü", strings.Repeat("k", 129)} {
		_, err := client.Rooms.Create(t.Context(), CreateRoom{Room: "lobby"}, IdempotencyKey(key))
		only(t, err, ErrInvalid)
	}
	if sent := len(s.received()); sent != 3 {
		t.Errorf("%d requests", sent)
	}
}

func TestRetriesEnd(t *testing.T) {
	busy := refusal{code: connect.CodeUnavailable, reason: ReasonOverloaded}
	far := refusal{code: connect.CodeUnavailable, reason: ReasonTooManyFailedKeys, retryDelay: time.Minute}
	cases := []struct {
		name    string
		refusal refusal
		options []CallOption
		want    error
		calls   int
	}{
		{"after the configured retries", busy, nil, ErrUnavailable, 3},
		{"if the service asks for more time than is left", far, nil, ErrUnavailable, 1},
		{"after NOT_FOUND", refusal{code: connect.CodeNotFound}, nil, ErrNotFound, 1},
		{"after FAILED_PRECONDITION", refusal{code: connect.CodeFailedPrecondition}, nil, ErrPrecondition, 1},
		{"after INTERNAL", refusal{code: connect.CodeInternal}, nil, ErrInternal, 1},
		{"after INVALID_ARGUMENT", refusal{code: connect.CodeInvalidArgument}, nil, ErrInvalid, 1},
		{"after UNAUTHENTICATED", refusal{code: connect.CodeUnauthenticated}, nil, ErrUnauthenticated, 1},
		{"after CANCELLED of the service", refusal{code: connect.CodeCanceled}, nil, ErrTimeout, 3},
		{"after DEADLINE_EXCEEDED of the service", refusal{code: connect.CodeDeadlineExceeded}, nil, ErrTimeout, 3},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			client, s := clientOf(t, Options{Retries: Ptr(2)}, each.refusal.step)
			_, err := client.Rooms.Create(t.Context(), CreateRoom{Room: "x"}, each.options...)
			only(t, err, each.want)
			if calls := len(s.received()); calls != each.calls {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

func TestWaitAfter(t *testing.T) {
	for failures, ceiling := range []time.Duration{500, 1000, 2000, 4000, 8000, 10_000, 10_000} {
		longest := time.Duration(0)
		for range 2000 {
			wait := waitAfter(failures, time.Second) - time.Second
			if wait < 0 || wait >= ceiling*time.Millisecond {
				t.Fatalf("wait %v after %d failures", wait, failures)
			}
			longest = max(longest, wait)
		}
		if longest < ceiling*time.Millisecond*8/10 {
			t.Errorf("never longer than %v after %d failures", longest, failures)
		}
	}
	if wait := waitAfter(1000, 0); wait < 0 || wait > maxWait {
		t.Errorf("wait %v after many failures", wait)
	}
}

// silent answers nothing until the call ends.
func silent(t *testing.T) (*Client, *atomic.Bool) {
	cancelled := new(atomic.Bool)
	s := &script{call: func(ctx context.Context, _ received) (connect.AnyResponse, error) {
		<-ctx.Done()
		cancelled.Store(true)
		return nil, ctx.Err()
	}}
	return newTestClient(t, Options{ControlURL: startControl(t, s), Tenant: testTenant}), cancelled
}

func TestAttemptTimeout(t *testing.T) {
	var calls atomic.Int32
	s := &script{call: func(ctx context.Context, _ received) (connect.AnyResponse, error) {
		if calls.Add(1) == 1 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return giveNewRoom()
	}}
	client := newTestClient(t, Options{ControlURL: startControl(t, s), Tenant: testTenant, AttemptTimeout: 300 * time.Millisecond})
	if _, err := client.Rooms.Create(t.Context(), CreateRoom{Room: "x"}); err != nil {
		t.Fatal(err)
	}
	if keys := s.texts("idempotency_key"); len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("idempotency keys: %q", keys)
	}
}

func TestTimeout(t *testing.T) {
	client, _ := silent(t)
	_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"}, Timeout(100*time.Millisecond))
	only(t, err, ErrTimeout)
	if failure := detailsOf(t, err); failure.Code != "DEADLINE_EXCEEDED" {
		t.Errorf("code %s", failure.Code)
	}
}

func TestDeadlineOfTheContext(t *testing.T) {
	client, _ := silent(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := client.Rooms.Get(ctx, GetRoom{Room: "x"})
	only(t, err, ErrTimeout)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestCancel(t *testing.T) {
	client, cancelled := silent(t)
	changed := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(changed) })
	_, err := client.Rooms.Get(ctx, GetRoom{Room: "x"})
	only(t, err, nil)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, changed) {
		t.Errorf("error %v", err)
	}
	eventually(t, cancelled.Load)
}

func TestCancelOfWhatIsSentOnce(t *testing.T) {
	url := startREST(t, func(_ http.ResponseWriter, r *http.Request) {
		// The server notices that the client has gone only after the body.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	client := newTestClient(t, Options{URL: url})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := client.Keys.Create(ctx, CreateKey{Name: "x"})
	only(t, err, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestCancelDuringAWait(t *testing.T) {
	busy := refusal{code: connect.CodeUnavailable, reason: ReasonUnavailable, retryDelay: 20 * time.Second}
	client, _ := clientOf(t, Options{}, busy.step)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	begun := time.Now()
	_, err := client.Rooms.Get(ctx, GetRoom{Room: "x"})
	if !errors.Is(err, context.Canceled) || time.Since(begun) > 10*time.Second {
		t.Errorf("error %v after %v", err, time.Since(begun))
	}
}

func TestCancelledBeforehand(t *testing.T) {
	client, s := clientOf(t, Options{}, giveRoom)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Rooms.Get(ctx, GetRoom{Room: "x"})
	if !errors.Is(err, context.Canceled) || len(s.received()) != 0 {
		t.Errorf("error %v after %d requests", err, len(s.received()))
	}
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for range 1000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it never happened")
}

func TestPages(t *testing.T) {
	s := &script{call: func(_ context.Context, got received) (connect.AnyResponse, error) {
		page := map[string]*controlv1.ListRoomsResponse{
			"":  {Rooms: []*controlv1.Room{{Name: "a"}, {Name: "b"}}, NextPageToken: "2"},
			"2": {NextPageToken: "3"},
			"3": {Rooms: []*controlv1.Room{{Name: "c"}}},
		}[got.text("page_token")]
		return connect.NewResponse(page), nil
	}}
	client := newTestClient(t, Options{ControlURL: startControl(t, s), Tenant: testTenant})
	names := func(request ListRooms) (names []string) {
		for room, err := range client.Rooms.List(t.Context(), request) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, room.Name)
		}
		return names
	}
	listing := fmt.Sprint(names(ListRooms{}), names(ListRooms{PageToken: "2"}))
	if listing != "[a b c] [c]" {
		t.Errorf("rooms: %s", listing)
	}
	var sizes []int
	for page, err := range client.Rooms.Pages(t.Context(), ListRooms{}) {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.Items))
	}
	if fmt.Sprint(sizes) != "[2 0 1]" {
		t.Errorf("sizes of pages: %v", sizes)
	}
	before := len(s.received())
	for range client.Rooms.List(t.Context(), ListRooms{}) {
		break
	}
	if asked := len(s.received()) - before; asked != 1 {
		t.Errorf("%d requests for one room", asked)
	}
}

func TestPagesEndWithAnError(t *testing.T) {
	first := func() (connect.AnyResponse, error) {
		page := &controlv1.ListRoomsResponse{Rooms: []*controlv1.Room{{Name: "a"}}, NextPageToken: "2"}
		return connect.NewResponse(page), nil
	}
	client, _ := clientOf(t, Options{}, first, refusal{code: connect.CodePermissionDenied}.step)
	var seen []string
	for room, err := range client.Rooms.List(t.Context(), ListRooms{}) {
		if err != nil {
			only(t, err, ErrDenied)
			seen = append(seen, "error")
			continue
		}
		seen = append(seen, room.Name)
	}
	if fmt.Sprint(seen) != "[a error]" {
		t.Errorf("seen: %v", seen)
	}
}

func TestTenantIsLookedUpOnce(t *testing.T) {
	var asked atomic.Int32
	url := startREST(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprintf(w, `{"tenant":{"id":%q}}`, testTenant)
	})
	s := &script{call: func(context.Context, received) (connect.AnyResponse, error) { return giveRoom() }}
	client := newTestClient(t, Options{URL: url, ControlURL: startControl(t, s)})
	done := make(chan error)
	for range 10 {
		go func() {
			_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
			done <- err
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("looked up %d times", asked.Load())
	}
	for _, tenant := range s.texts("tenant") {
		if tenant != testTenant {
			t.Errorf("tenant %q", tenant)
		}
	}
}

func TestTenantIsLookedUpAgainAfterAFailure(t *testing.T) {
	var asked atomic.Int32
	url := startREST(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(403)
			fmt.Fprint(w, `{"error":"tenant is not active"}`)
			return
		}
		fmt.Fprintf(w, `{"tenant":{"id":%q}}`, testTenant)
	})
	s := &script{call: func(context.Context, received) (connect.AnyResponse, error) { return giveRoom() }}
	client := newTestClient(t, Options{URL: url, ControlURL: startControl(t, s)})
	_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
	only(t, err, ErrDenied)
	if _, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"}); err != nil {
		t.Error(err)
	}
}

func TestTenantOfAnUnknownKey(t *testing.T) {
	url := startREST(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
	s := &script{call: func(context.Context, received) (connect.AnyResponse, error) {
		return refusal{code: connect.CodePermissionDenied, reason: ReasonRelayKey}.step()
	}}
	client := newTestClient(t, Options{URL: url, ControlURL: startControl(t, s)})
	_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
	if detailsOf(t, err).Reason != ReasonRelayKey {
		t.Errorf("error %v", err)
	}
}

func TestLookupOfTheTenantCanBeAbandoned(t *testing.T) {
	var ended atomic.Bool
	url := startREST(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		ended.Store(true)
	})
	client := newTestClient(t, Options{URL: url, Timeout: time.Minute, AttemptTimeout: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := client.Rooms.Get(ctx, GetRoom{Room: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	eventually(t, ended.Load)
	eventually(t, func() bool {
		client.tenant.mutex.Lock()
		defer client.tenant.mutex.Unlock()
		return client.tenant.running == nil
	})
}
