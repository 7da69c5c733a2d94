package boxoffice

import (
	"context"
	"iter"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// Moderation moderates rooms. It never needs credit. With an Actor, that participant acts, and needs the
// capability and a higher rank. Without one, the tenant acts.
type Moderation struct {
	control *control
}

// Moderated is the current state of a participant, and the record of the action.
type Moderated struct {
	// The participant after the action.
	Participant *Participant `json:"participant,omitzero"`
	// The record of the action.
	Event *ModerationEvent `json:"event,omitzero"`
}

// Banned is a ban, and the record of the action.
type Banned struct {
	// The ban.
	Ban *Ban `json:"ban,omitzero"`
	// The record of the action; nil if the ban was already as strong.
	Event *ModerationEvent `json:"event,omitzero"`
}

// ClosedRoom is a room that a moderator has closed, and the record of the action.
type ClosedRoom struct {
	// The room, which has ended.
	Room *Room `json:"room,omitzero"`
	// The record of the action.
	Event *ModerationEvent `json:"event,omitzero"`
}

// Kick makes a user leave: all the user's tokens for the room become void. New ones may be minted.
func (m *Moderation) Kick(ctx context.Context, request KickParticipant, options ...CallOption) (*Moderated, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.KickParticipant, request, options)
	return moderated(answer, err)
}

// Ban keeps a user, a device or a range of addresses out of a room or, without Room, out of all rooms.
func (m *Moderation) Ban(ctx context.Context, request BanSubject, options ...CallOption) (*Banned, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.BanSubject, request, options)
	return orNil(&Banned{fromBan(answer.GetBan()), fromModerationEvent(answer.GetEvent())}, err)
}

// Unban lifts a ban.
func (m *Moderation) Unban(ctx context.Context, request UnbanSubject, options ...CallOption) (*Banned, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.UnbanSubject, request, options)
	return orNil(&Banned{fromBan(answer.GetBan()), fromModerationEvent(answer.GetEvent())}, err)
}

// Bans yields current bans, newest first.
func (m *Moderation) Bans(ctx context.Context, request ListBans, options ...CallOption) iter.Seq2[*Ban, error] {
	return itemsOf(m.BanPages(ctx, request, options...))
}

// BanPages yields the pages of Bans.
func (m *Moderation) BanPages(ctx context.Context, request ListBans, options ...CallOption) iter.Seq2[*Page[Ban], error] {
	return pagesFrom(ctx, request.PageToken, func(ctx context.Context, pageToken string) (*Page[Ban], error) {
		request.PageToken = pageToken
		answer, err := query(ctx, m.control, m.control.moderation.ListBans, request, options)
		return &Page[Ban]{each(answer.GetBans(), fromBan), answer.GetNextPageToken()}, err
	})
}

// ForceMute stops forwarding tracks of a user. The user cannot undo it.
func (m *Moderation) ForceMute(ctx context.Context, request ForceMute, options ...CallOption) (*Moderated, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.ForceMute, request, options)
	return moderated(answer, err)
}

// ReleaseMute lets a user unmute. It does not unmute the tracks.
func (m *Moderation) ReleaseMute(ctx context.Context, request ReleaseMute, options ...CallOption) (*Moderated, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.ReleaseMute, request, options)
	return moderated(answer, err)
}

// RevokePublish takes the right to publish tracks from a user.
func (m *Moderation) RevokePublish(ctx context.Context, request RevokePublish, options ...CallOption) (*Moderated, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.RevokePublish, request, options)
	return moderated(answer, err)
}

// RestorePublish returns the right to publish. It is in the user's next token.
func (m *Moderation) RestorePublish(ctx context.Context, request RestorePublish, options ...CallOption) (*Moderated, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.RestorePublish, request, options)
	return moderated(answer, err)
}

// CloseRoom ends a room as a moderator: like [Rooms.End], but recorded.
func (m *Moderation) CloseRoom(ctx context.Context, request CloseRoom, options ...CallOption) (*ClosedRoom, error) {
	answer, err := mutate(ctx, m.control, m.control.moderation.CloseRoom, request, options)
	return orNil(&ClosedRoom{fromRoom(answer.GetRoom()), fromModerationEvent(answer.GetEvent())}, err)
}

// Events yields moderation events, newest first.
func (m *Moderation) Events(ctx context.Context, request ListModerationEvents, options ...CallOption) iter.Seq2[*ModerationEvent, error] {
	return itemsOf(m.EventPages(ctx, request, options...))
}

// EventPages yields the pages of Events.
func (m *Moderation) EventPages(ctx context.Context, request ListModerationEvents, options ...CallOption) iter.Seq2[*Page[ModerationEvent], error] {
	return pagesFrom(ctx, request.PageToken, func(ctx context.Context, pageToken string) (*Page[ModerationEvent], error) {
		request.PageToken = pageToken
		answer, err := query(ctx, m.control, m.control.moderation.ListModerationEvents, request, options)
		return &Page[ModerationEvent]{each(answer.GetEvents(), fromModerationEvent), answer.GetNextPageToken()}, err
	})
}

// moderatedAnswer is the answer of all methods that act on a participant.
type moderatedAnswer interface {
	GetParticipant() *controlv1.Participant
	GetEvent() *controlv1.ModerationEvent
}

func moderated(answer moderatedAnswer, err error) (*Moderated, error) {
	return orNil(&Moderated{fromParticipant(answer.GetParticipant()), fromModerationEvent(answer.GetEvent())}, err)
}
