package boxoffice

import (
	"context"
	"iter"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// Participants are the users of rooms. A user is present until the last token has expired or is void.
type Participants struct {
	control *control
	rest    *rest
}

// Get reads a user of a room, present or not.
func (p *Participants) Get(ctx context.Context, request GetParticipant, options ...CallOption) (*Participant, error) {
	answer, err := query(ctx, p.control, p.control.participants.GetParticipant, request, options)
	return fromParticipant(answer.GetParticipant()), err
}

// List yields the users of a room, by name; with IncludeLeft, also those who have left.
func (p *Participants) List(ctx context.Context, request ListParticipants, options ...CallOption) iter.Seq2[*Participant, error] {
	return itemsOf(p.Pages(ctx, request, options...))
}

// Pages yields the pages of List.
func (p *Participants) Pages(ctx context.Context, request ListParticipants, options ...CallOption) iter.Seq2[*Page[Participant], error] {
	return pagesFrom(ctx, request.PageToken, func(ctx context.Context, pageToken string) (*Page[Participant], error) {
		request.PageToken = pageToken
		answer, err := query(ctx, p.control, p.control.participants.ListParticipants, request, options)
		return &Page[Participant]{each(answer.GetParticipants(), fromParticipant), answer.GetNextPageToken()}, err
	})
}

// Watch follows participants of a room as they enter, change and leave, like [Rooms.Watch].
func (p *Participants) Watch(ctx context.Context, request WatchParticipants, options ...CallOption) iter.Seq2[*WatchedEvent, error] {
	events := stream[*controlv1.WatchParticipantsRequest, controlv1.WatchParticipantsResponse]{
		control: p.control,
		name:    "WatchParticipants",
		open:    p.control.participants.WatchParticipants,
		given:   request,
		options: p.control.calls.options(options),
	}
	return events.events(ctx, request.ResumeToken)
}

// Erase erases the name of a person from everything that is stored. It cannot be undone, and takes a while: ask
// for Erasure until it is done. It fails with [ErrPrecondition] while the person is in a room.
func (p *Participants) Erase(ctx context.Context, request EraseParticipant, options ...CallOption) (*Erasure, error) {
	op := operation{name: "Participants.Erase", method: "POST", path: "/v1/participants/erase", body: request, isWrite: true}
	return p.erasure(ctx, op, options)
}

// Erasure reads how far an erasure is.
func (p *Participants) Erasure(ctx context.Context, request GetErasure, options ...CallOption) (*Erasure, error) {
	id, err := segment("id", request.ID)
	if err != nil {
		return nil, err
	}
	op := operation{name: "Participants.Erasure", method: "GET", path: "/v1/erasures/" + id, mayRepeat: true}
	return p.erasure(ctx, op, options)
}

func (p *Participants) erasure(ctx context.Context, op operation, options []CallOption) (*Erasure, error) {
	var answer struct {
		Erasure Erasure `json:"erasure"`
	}
	err := p.rest.call(ctx, op, &answer, options)
	return orNil(&answer.Erasure, err)
}
