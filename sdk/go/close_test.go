package boxoffice

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// closed checks the error after [Client.Close].
func closed(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrClientClosed) || detailsOf(t, err).Code != "" || errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for name, sentinel := range map[string]error{"ErrClosed": ErrClosed, "ErrUnavailable": ErrUnavailable, "ErrInvalid": ErrInvalid} {
		if errors.Is(err, sentinel) {
			t.Errorf("%v is %s", err, name)
		}
	}
}

func TestCloseRefusesLaterCalls(t *testing.T) {
	requests := 0
	client, s := clientOf(t, Options{URL: startREST(t, func(http.ResponseWriter, *http.Request) { requests++ })}, giveRoom)
	client.Close()
	client.Close()
	for _, err := range bothOf(t, client) {
		closed(t, err)
	}
	_, err := client.SignUp(t.Context(), SignUp{})
	closed(t, err)
	for _, err := range client.Rooms.List(t.Context(), ListRooms{}) {
		closed(t, err)
	}
	for _, err := range client.Billing.Ledger(t.Context(), ListLedger{}) {
		closed(t, err)
	}
	for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{}) {
		if closed(t, err); event != nil {
			t.Errorf("event %v", event)
		}
	}
	for event, err := range client.Webhooks.FollowEvents(t.Context(), FollowEvents{}) {
		if closed(t, err); event != nil {
			t.Errorf("event %v", event)
		}
	}
	if sent := len(s.received()); sent != 0 || requests != 0 {
		t.Errorf("%d and %d requests were sent", sent, requests)
	}
}

// within fails unless work ends soon, although it would go on for much longer.
func within(t *testing.T, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it did not end")
	}
}

func TestCloseEndsAWatch(t *testing.T) {
	cancelled := make(chan struct{})
	client, _ := streamOf(t, func(ctx context.Context, _ received, send func(*controlv1.WatchEventsResponse)) error {
		send(happened(1))
		<-ctx.Done()
		close(cancelled)
		return ctx.Err()
	})
	var last error
	within(t, func() {
		for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{}) {
			if last = err; event != nil {
				client.Close()
			}
		}
	})
	closed(t, last)
	within(t, func() { <-cancelled })
}

// TestCloseEndsAWaitingWatch closes the client while a watch waits to reopen its stream.
func TestCloseEndsAWaitingWatch(t *testing.T) {
	client, _ := streamOf(t, func(context.Context, received, func(*controlv1.WatchEventsResponse)) error {
		return refusal{code: connect.CodeUnavailable}.err()
	})
	client.control.calls.wait = func(int, time.Duration) time.Duration {
		go client.Close()
		return time.Hour
	}
	within(t, func() {
		for _, err := range client.Rooms.Watch(t.Context(), WatchEvents{}) {
			closed(t, err)
		}
	})
}

func TestCloseEndsFollowEvents(t *testing.T) {
	asked := make(chan struct{})
	client := newTestClient(t, Options{URL: startREST(t, func(_ http.ResponseWriter, request *http.Request) {
		close(asked)
		<-request.Context().Done()
	})})
	go func() {
		<-asked
		client.Close()
	}()
	within(t, func() {
		for _, err := range client.Webhooks.FollowEvents(t.Context(), FollowEvents{}) {
			closed(t, err)
		}
	})
}

// TestCloseLetsCallsFinish closes the client while a call is answered, and while one waits for its next attempt.
func TestCloseLetsCallsFinish(t *testing.T) {
	var client *Client
	steps := 0
	client, _ = clientOf(t, Options{}, func() (connect.AnyResponse, error) {
		client.Close()
		if steps++; steps == 1 {
			return refusal{code: connect.CodeUnavailable}.step()
		}
		return giveRoom()
	})
	room, err := client.Rooms.Get(t.Context(), GetRoom{Room: "lobby"})
	if err != nil || room.Name != "lobby" || steps != 2 {
		t.Errorf("room %v, error %v, %d attempts", room, err, steps)
	}
}

// TestCloseEndsALookup closes the client while a call waits for the tenant of its key.
func TestCloseEndsALookup(t *testing.T) {
	asked := make(chan struct{})
	s := &script{call: func(context.Context, received) (connect.AnyResponse, error) { return giveRoom() }}
	client := newTestClient(t, Options{ControlURL: startControl(t, s), URL: startREST(t, func(_ http.ResponseWriter, request *http.Request) {
		close(asked)
		<-request.Context().Done()
	})})
	go func() {
		<-asked
		client.Close()
	}()
	within(t, func() {
		_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "lobby"})
		closed(t, err)
	})
}
