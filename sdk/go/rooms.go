package boxoffice

import (
	"context"
	"iter"
	"time"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// Rooms are the rooms of the tenant. Later rooms may reuse a name; a UID is never reused.
type Rooms struct {
	control *control
}

// UpdateRoomPolicy is the request of [Rooms.UpdatePolicy]: the rules to change.
type UpdateRoomPolicy struct {
	// Name of a live room.
	Room string `json:"room,omitzero"`
	// The rules to change, and their new values.
	Policy RoomPolicyChanges `json:"policy"`
	// The acting participant: one with `room.update_policy`, and with every capability that the new rules add
	// to a role; nil: the tenant.
	Actor *Actor `json:"actor,omitzero"`
}

// RoomPolicyChanges are rules of a room that are to change: nil and empty fields stay as they are. The service
// refuses Mode to Region with [ReasonImmutableField].
type RoomPolicyChanges struct {
	// Immutable.
	Mode RoomMode `json:"mode,omitzero"`
	// Immutable.
	E2EERequired *bool `json:"e2ee_required,omitzero"`
	// Immutable.
	AgeVerificationRequired *bool `json:"age_verification_required,omitzero"`
	// Immutable.
	Region *string `json:"region,omitzero"`
	// How many users may be present, 0 to 100000; 0 is no limit. Users who are present may stay.
	MaxParticipants *int32 `json:"max_participants,omitzero"`
	// New users are refused; users who are present may renew.
	Locked *bool `json:"locked,omitzero"`
	// What a host gets when a token is minted without capabilities; empty but not nil: all of a host.
	HostCapabilities []string `json:"host_capabilities,omitzero"`
	// The same for the roles audience and broadcast_audience.
	AudienceCapabilities []string `json:"audience_capabilities,omitzero"`
	// Clients start with the microphone off. Users may turn it on.
	MuteOnEntry *bool `json:"mute_on_entry,omitzero"`
}

// ListedEvents are events in order, and where they end.
type ListedEvents struct {
	// The events after the given place; may be empty.
	Events []*Event `json:"events"`
	// The place after the last of them: pass it to read on.
	ResumeToken string `json:"resume_token,omitzero"`
}

// Create creates a room, live at once. It is [ErrExists] while a live room has the name.
func (r *Rooms) Create(ctx context.Context, request CreateRoom, options ...CallOption) (*Room, error) {
	answer, err := mutate(ctx, r.control, r.control.rooms.CreateRoom, request, options)
	return fromRoom(answer.GetRoom()), err
}

// Get reads a room, live or ended.
func (r *Rooms) Get(ctx context.Context, request GetRoom, options ...CallOption) (*Room, error) {
	answer, err := query(ctx, r.control, r.control.rooms.GetRoom, request, options)
	return fromRoom(answer.GetRoom()), err
}

// List yields rooms, newest first, and reads page after page. Each loop over it begins anew.
func (r *Rooms) List(ctx context.Context, request ListRooms, options ...CallOption) iter.Seq2[*Room, error] {
	return itemsOf(r.Pages(ctx, request, options...))
}

// Pages yields the pages of List.
func (r *Rooms) Pages(ctx context.Context, request ListRooms, options ...CallOption) iter.Seq2[*Page[Room], error] {
	return pagesFrom(ctx, request.PageToken, func(ctx context.Context, pageToken string) (*Page[Room], error) {
		request.PageToken = pageToken
		answer, err := query(ctx, r.control, r.control.rooms.ListRooms, request, options)
		return &Page[Room]{each(answer.GetRooms(), fromRoom), answer.GetNextPageToken()}, err
	})
}

// UpdatePolicy changes the rules of a live room that Policy sets. Without any, it is [ErrInvalid].
func (r *Rooms) UpdatePolicy(ctx context.Context, request UpdateRoomPolicy, options ...CallOption) (*Room, error) {
	answer, err := mutate(ctx, r.control, r.control.rooms.UpdateRoomPolicy, request, options)
	return fromRoom(answer.GetRoom()), err
}

// End ends a room: its participants leave, and its tokens become void. It is [ErrClosed] if it has ended.
func (r *Rooms) End(ctx context.Context, request EndRoom, options ...CallOption) (*Room, error) {
	answer, err := mutate(ctx, r.control, r.control.rooms.EndRoom, request, options)
	return fromRoom(answer.GetRoom()), err
}

// Watch follows all events until the loop or the context ends. It starts with a snapshot, or after the event
// whose ResumeToken is given, and survives lost connections and restarts of the service: each event comes
// once, in order. An error ends it. Timeouts of calls do not concern it.
func (r *Rooms) Watch(ctx context.Context, request WatchEvents, options ...CallOption) iter.Seq2[*WatchedEvent, error] {
	events := stream[*controlv1.WatchEventsRequest, controlv1.WatchEventsResponse]{
		control: r.control,
		name:    "WatchEvents",
		open:    r.control.rooms.WatchEvents,
		given:   request,
		options: r.control.calls.options(options),
	}
	return events.events(ctx, request.ResumeToken)
}

// ListEvents reads events, and waits up to Wait if there are none.
func (r *Rooms) ListEvents(ctx context.Context, request ListEvents, options ...CallOption) (*ListedEvents, error) {
	if request.Wait > 0 {
		// The longest wait that the service allows, and time for the answer.
		const patience = (30 + 10) * time.Second
		options = append([]CallOption{Timeout(2 * patience), AttemptTimeout(patience)}, options...)
	}
	answer, err := query(ctx, r.control, r.control.rooms.ListEvents, request, options)
	return orNil(&ListedEvents{each(answer.GetEvents(), fromEvent), answer.GetResumeToken()}, err)
}

func (r UpdateRoomPolicy) message(c *checks) *controlv1.UpdateRoomPolicyRequest {
	policy, mask := r.Policy.message(c)
	return &controlv1.UpdateRoomPolicyRequest{
		Room:       r.Room,
		Policy:     policy,
		UpdateMask: mask.done(c, "policy"),
		Actor:      actorOf(r.Actor),
	}
}

func (p RoomPolicyChanges) message(c *checks) (*controlv1.RoomPolicy, *mask) {
	var changed mask
	return &controlv1.RoomPolicy{
		Mode:                    changeIf(&changed, "mode", p.Mode != "", numberOf[controlv1.RoomPolicy_Mode](c, "policy.mode", p.Mode)),
		E2EeRequired:            change(&changed, "e2ee_required", p.E2EERequired),
		AgeVerificationRequired: change(&changed, "age_verification_required", p.AgeVerificationRequired),
		Region:                  change(&changed, "region", p.Region),
		MaxParticipants:         change(&changed, "max_participants", p.MaxParticipants),
		Locked:                  change(&changed, "locked", p.Locked),
		HostCapabilities:        changeIf(&changed, "host_capabilities", p.HostCapabilities != nil, p.HostCapabilities),
		AudienceCapabilities:    changeIf(&changed, "audience_capabilities", p.AudienceCapabilities != nil, p.AudienceCapabilities),
		MuteOnEntry:             change(&changed, "mute_on_entry", p.MuteOnEntry),
	}, &changed
}
