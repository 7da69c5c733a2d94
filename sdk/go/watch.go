package boxoffice

import (
	"context"
	"errors"
	"iter"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// silenceLimit is when a stream counts as dead: bookmarks come at least every 15 seconds.
const silenceLimit = 40 * time.Second

// WatchedEvent is an event, and the token to resume after it.
type WatchedEvent struct {
	Event
	// ResumeToken may be stored to resume after this event. It is empty inside a snapshot, which cannot be
	// resumed half-way.
	ResumeToken string `json:"resume_token,omitzero"`
}

// watched is a message of a stream.
type watched interface {
	GetEvent() *controlv1.Event
	GetResumeToken() string
}

// stream follows events without end. A broken stream is reopened after the last event that was handed out, so
// each event comes once and in order.
type stream[Message proto.Message, Part any] struct {
	control *control
	name    string
	open    func(context.Context, Message) (*connect.ServerStreamForClient[Part], error)
	given   request[Message]
	options callOptions
}

// errEnough says that the loop over the events ended.
var errEnough = errors.New("the loop ended")

func (s *stream[Message, Part]) events(ctx context.Context, resumeToken string) iter.Seq2[*WatchedEvent, error] {
	return func(yield func(*WatchedEvent, error) bool) {
		ctx, done := s.control.calls.untilClosed(ctx)
		defer done()
		failures := 0
		for {
			if ctx.Err() != nil {
				yield(nil, errorOfContext(ctx))
				return
			}
			err := s.follow(ctx, resumeToken, func(event *WatchedEvent) bool {
				failures = 0
				if !yield(event, nil) {
					return false
				}
				if event.ResumeToken != "" {
					resumeToken = event.ResumeToken
				}
				return true
			})
			if errors.Is(err, errEnough) {
				return
			}
			if err := s.control.calls.pause(ctx, s.name, err, isTransient, failures); err != nil {
				yield(nil, err)
				return
			}
			failures++
		}
	}
}

// follow hands out the events of one stream until it ends. It is cut if it is silent for too long.
func (s *stream[Message, Part]) follow(ctx context.Context, resumeToken string, handle func(*WatchedEvent) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(s.options.silenceLimit, func() { cancel(timeoutError()) })
	defer silence.Stop()
	parts, err := s.start(ctx, resumeToken)
	if err != nil {
		return s.failure(ctx, err)
	}
	// Without a cancelled context, closing would first read the rest of the stream.
	defer parts.Close()
	defer cancel(nil)
	for parts.Receive() {
		// While the loop is busy, nothing is read from the stream, so silence means nothing.
		silence.Stop()
		if !handle(watchedOf(parts.Msg())) {
			return errEnough
		}
		silence.Reset(s.options.silenceLimit)
	}
	if err := parts.Err(); err != nil {
		return s.failure(ctx, err)
	}
	return nil
}

func (s *stream[Message, Part]) start(ctx context.Context, resumeToken string) (*connect.ServerStreamForClient[Part], error) {
	message, err := prepare(s.control, s.given, "")
	if err != nil {
		return nil, err
	}
	setField(message, "resume_token", resumeToken)
	if err := s.control.addTenant(ctx, message); err != nil {
		return nil, err
	}
	return s.open(ctx, message)
}

// failure is the silence or the end of the client if that broke the stream, or else the stream's own error.
func (s *stream[Message, Part]) failure(ctx context.Context, err error) error {
	var ours *Error
	if errors.As(context.Cause(ctx), &ours) {
		return ours
	}
	return errorOfCall(err)
}

// watchedOf reads a message of a stream. The streams of the contract all have events.
func watchedOf(part any) *WatchedEvent {
	message, ok := part.(watched)
	if !ok || message.GetEvent() == nil {
		return &WatchedEvent{}
	}
	return &WatchedEvent{Event: *fromEvent(message.GetEvent()), ResumeToken: message.GetResumeToken()}
}
