package boxoffice

import (
	"context"
	"iter"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// Participants are the users of rooms. A user is present until the last token has expired or is void.
type Participants struct {
	control *control
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
