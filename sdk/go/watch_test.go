package boxoffice

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// happened is an event as a stream sends it.
func happened(seq uint64) *controlv1.WatchEventsResponse {
	event := &controlv1.Event{Seq: seq, Type: controlv1.Event_TYPE_ROOM_CREATED}
	return &controlv1.WatchEventsResponse{Event: event, ResumeToken: fmt.Sprintf("after %d", seq)}
}

func streamOf(t *testing.T, stream func(ctx context.Context, got received, send func(*controlv1.WatchEventsResponse)) error) (*Client, *script) {
	t.Helper()
	s := &script{stream: stream}
	return newTestClient(t, Options{ControlURL: startControl(t, s), Tenant: testTenant}), s
}

func TestWatchResumesWhereItBroke(t *testing.T) {
	var opened atomic.Uint64
	client, s := streamOf(t, func(_ context.Context, _ received, send func(*controlv1.WatchEventsResponse)) error {
		next := 2*opened.Add(1) - 1
		send(happened(next))
		send(happened(next + 1))
		if next == 3 {
			return nil
		}
		return refusal{code: connect.CodeUnavailable, reason: ReasonUnavailable}.err()
	})
	var failures []int
	client.control.calls.wait = func(count int, _ time.Duration) time.Duration {
		failures = append(failures, count)
		return 0
	}
	var seen []string
	for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{ResumeToken: "after 0"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprint(event.Seq, " ", event.Type, " ", event.ResumeToken))
		if len(seen) == 5 {
			break
		}
	}
	want := "[1 room_created after 1 2 room_created after 2 3 room_created after 3 4 room_created after 4 5 room_created after 5]"
	if fmt.Sprint(seen) != want {
		t.Errorf("seen: %v", seen)
	}
	if tokens := fmt.Sprintf("%q", s.texts("resume_token")); tokens != `["after 0" "after 2" "after 4"]` {
		t.Errorf("resumed at %s", tokens)
	}
	// Each event that arrives ends a series of failures.
	if fmt.Sprint(failures) != "[0 0]" {
		t.Errorf("failures in a row: %v", failures)
	}
	if got := s.received()[2]; got.text("tenant") != testTenant || got.authorization != "Bearer "+testKey {
		t.Errorf("third stream: %v", got)
	}
}

func TestWatchNeverResumesInsideASnapshot(t *testing.T) {
	var opened atomic.Int32
	client, s := streamOf(t, func(ctx context.Context, _ received, send func(*controlv1.WatchEventsResponse)) error {
		send(&controlv1.WatchEventsResponse{Event: &controlv1.Event{Type: controlv1.Event_TYPE_RESET}})
		send(&controlv1.WatchEventsResponse{Event: &controlv1.Event{Type: controlv1.Event_TYPE_SNAPSHOT}})
		if opened.Add(1) == 1 {
			return refusal{code: connect.CodeUnavailable}.err()
		}
		send(&controlv1.WatchEventsResponse{Event: &controlv1.Event{Type: controlv1.Event_TYPE_BOOKMARK}, ResumeToken: "after 7"})
		<-ctx.Done()
		return ctx.Err()
	})
	var types []EventType
	for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{ResumeToken: "after 3"}) {
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, event.Type)
		if event.Type == EventBookmark {
			break
		}
	}
	if fmt.Sprint(types) != "[reset snapshot reset snapshot bookmark]" {
		t.Errorf("types: %v", types)
	}
	if tokens := fmt.Sprintf("%q", s.texts("resume_token")); tokens != `["after 3" "after 3"]` {
		t.Errorf("resumed at %s", tokens)
	}
}

func TestWatchReopensASilentStream(t *testing.T) {
	client, _ := streamOf(t, func(ctx context.Context, got received, send func(*controlv1.WatchEventsResponse)) error {
		if got.text("resume_token") == "" {
			send(happened(1))
		} else {
			send(happened(2))
		}
		<-ctx.Done()
		return ctx.Err()
	})
	for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{}, SilenceLimit(200*time.Millisecond)) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Seq == 2 {
			break
		}
	}
}

// TestWatchOfABusyReader is busy for longer than a stream may be silent, which does not make it silent.
func TestWatchOfABusyReader(t *testing.T) {
	client, s := streamOf(t, func(ctx context.Context, _ received, send func(*controlv1.WatchEventsResponse)) error {
		send(happened(1))
		send(happened(2))
		<-ctx.Done()
		return ctx.Err()
	})
	for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{}, SilenceLimit(2*time.Second)) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Seq == 2 {
			break
		}
		time.Sleep(3 * time.Second)
	}
	if opened := len(s.received()); opened != 1 {
		t.Errorf("%d streams", opened)
	}
}

func TestWatchSilenceLimit(t *testing.T) {
	client := newTestClient(t, Options{Tenant: testTenant})
	if limit := client.rest.calls.options(nil).silenceLimit; limit != 40*time.Second {
		t.Errorf("silence limit %v", limit)
	}
}

func TestWatchEndsWithARefusal(t *testing.T) {
	client, s := streamOf(t, func(context.Context, received, func(*controlv1.WatchEventsResponse)) error {
		return refusal{code: connect.CodePermissionDenied, reason: ReasonOtherTenant}.err()
	})
	turns := 0
	for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{}) {
		turns++
		only(t, err, ErrDenied)
		if event != nil || detailsOf(t, err).Reason != ReasonOtherTenant {
			t.Errorf("event %v, error %v", event, err)
		}
	}
	if opened := len(s.received()); turns != 1 || opened != 1 {
		t.Errorf("%d turns, %d streams", turns, opened)
	}
}

func TestWatchEndsWithTheContext(t *testing.T) {
	var cancelled atomic.Bool
	client, _ := streamOf(t, func(ctx context.Context, _ received, send func(*controlv1.WatchEventsResponse)) error {
		send(happened(1))
		<-ctx.Done()
		cancelled.Store(true)
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for event, err := range client.Rooms.Watch(ctx, WatchEvents{}) {
		if event != nil {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("error %v", last)
	}
	eventually(t, cancelled.Load)
}

func TestWatchWithoutAService(t *testing.T) {
	client := newTestClient(t, Options{Tenant: testTenant})
	client.control.calls.wait = func(int, time.Duration) time.Duration { return 20 * time.Millisecond }
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	for _, err := range client.Rooms.Watch(ctx, WatchEvents{}) {
		only(t, err, ErrTimeout)
	}
}

func TestWatchOfParticipants(t *testing.T) {
	s := &script{stream: func(ctx context.Context, got received, send func(*controlv1.WatchEventsResponse)) error {
		send(&controlv1.WatchEventsResponse{
			Event:       &controlv1.Event{Kind: &controlv1.Event_Participant{Participant: &controlv1.Participant{Username: "ann"}}},
			ResumeToken: "after 1",
		})
		<-ctx.Done()
		return ctx.Err()
	}}
	client := newTestClient(t, Options{ControlURL: startControl(t, s), Tenant: testTenant})
	for event, err := range client.Participants.Watch(t.Context(), WatchParticipants{Room: "lobby"}) {
		if err != nil || event.Participant.Username != "ann" || event.ResumeToken != "after 1" {
			t.Fatalf("event %v, error %v", event, err)
		}
		break
	}
	if got := s.received()[0]; got.method != "WatchParticipants" {
		t.Errorf("method %s", got.method)
	}
}

// TestWatchOfABrokenConnection cuts the connection in the middle of a message.
func TestWatchOfABrokenConnection(t *testing.T) {
	client, s := streamOf(t, func(ctx context.Context, _ received, send func(*controlv1.WatchEventsResponse)) error {
		send(happened(1))
		send(&controlv1.WatchEventsResponse{Event: &controlv1.Event{RoomUid: incompressible(1 << 20)}})
		<-ctx.Done()
		return ctx.Err()
	})
	cut := &cuttingDialer{after: 64 << 10}
	client.control.client.Transport.(*http.Transport).DialContext = cut.dial
	for event, err := range client.Rooms.Watch(t.Context(), WatchEvents{}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Seq != 1 {
			break
		}
	}
	if opened := len(s.received()); opened != 2 {
		t.Errorf("%d streams", opened)
	}
}

func incompressible(length int) string {
	var text strings.Builder
	for text.Len() < length {
		text.WriteString(rand.Text())
	}
	return text.String()
}

// cuttingDialer breaks its first connection after some bytes.
type cuttingDialer struct {
	after int
	cut   atomic.Bool
}

func (c *cuttingDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil || c.cut.Swap(true) {
		return connection, err
	}
	return &cutConnection{Conn: connection, left: c.after}, nil
}

type cutConnection struct {
	net.Conn
	left int
}

func (c *cutConnection) Read(bytes []byte) (int, error) {
	if c.left <= 0 {
		c.Close()
	}
	count, err := c.Conn.Read(bytes[:min(len(bytes), max(c.left, 1))])
	c.left -= count
	return count, err
}
