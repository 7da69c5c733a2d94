package boxoffice

import (
	"context"
	"iter"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// Watchdogs are timers on conditions of rooms.
type Watchdogs struct {
	control *control
}

// Create arms a watchdog on a live room, with one condition.
func (w *Watchdogs) Create(ctx context.Context, request CreateWatchdog, options ...CallOption) (*Watchdog, error) {
	answer, err := mutate(ctx, w.control, w.control.watchdogs.CreateWatchdog, request, options)
	return fromWatchdog(answer.GetWatchdog()), err
}

// Get reads a watchdog, including one that has fired.
func (w *Watchdogs) Get(ctx context.Context, request GetWatchdog, options ...CallOption) (*Watchdog, error) {
	answer, err := query(ctx, w.control, w.control.watchdogs.GetWatchdog, request, options)
	return fromWatchdog(answer.GetWatchdog()), err
}

// List yields watchdogs, newest first.
func (w *Watchdogs) List(ctx context.Context, request ListWatchdogs, options ...CallOption) iter.Seq2[*Watchdog, error] {
	return itemsOf(w.Pages(ctx, request, options...))
}

// Pages yields the pages of List.
func (w *Watchdogs) Pages(ctx context.Context, request ListWatchdogs, options ...CallOption) iter.Seq2[*Page[Watchdog], error] {
	return pagesFrom(ctx, request.PageToken, func(ctx context.Context, pageToken string) (*Page[Watchdog], error) {
		request.PageToken = pageToken
		answer, err := query(ctx, w.control, w.control.watchdogs.ListWatchdogs, request, options)
		return &Page[Watchdog]{each(answer.GetWatchdogs(), fromWatchdog), answer.GetNextPageToken()}, err
	})
}

// Update changes a watchdog, and arms it again. Without anything to change, it is [ErrInvalid].
func (w *Watchdogs) Update(ctx context.Context, request UpdateWatchdog, options ...CallOption) (*Watchdog, error) {
	answer, err := mutate(ctx, w.control, w.control.watchdogs.UpdateWatchdog, request, options)
	return fromWatchdog(answer.GetWatchdog()), err
}

// Delete deletes a watchdog that has not fired.
func (w *Watchdogs) Delete(ctx context.Context, request DeleteWatchdog, options ...CallOption) error {
	_, err := mutate(ctx, w.control, w.control.watchdogs.DeleteWatchdog, request, options)
	return err
}

func (r CreateWatchdog) message(c *checks) *controlv1.CreateWatchdogRequest {
	watchdog := &controlv1.Watchdog{
		Room:       r.Room,
		Action:     numberOf[controlv1.Watchdog_Action](c, "watchdog.action", r.Action),
		WarnBefore: c.duration("watchdog.warn_before", r.WarnBefore),
	}
	condition := watchdogCondition{
		r.MaxDuration, r.UnusedFor, r.EmptyFor, r.HostAbsentFor, r.AloneFor, r.ParticipantMaxDuration, r.UnadmittedFor,
	}
	condition.addTo(watchdog, c)
	return &controlv1.CreateWatchdogRequest{Watchdog: watchdog, Actor: actorOf(r.Actor)}
}

func (r UpdateWatchdog) message(c *checks) *controlv1.UpdateWatchdogRequest {
	watchdog := &controlv1.Watchdog{Id: r.ID}
	condition := watchdogCondition{
		r.MaxDuration, r.UnusedFor, r.EmptyFor, r.HostAbsentFor, r.AloneFor, r.ParticipantMaxDuration, r.UnadmittedFor,
	}
	changed := mask{paths: condition.addTo(watchdog, c)}
	action := numberOf[controlv1.Watchdog_Action](c, "watchdog.action", r.Action)
	watchdog.Action = changeIf(&changed, "action", r.Action != "", action)
	warnBefore := c.durationOf("watchdog.warn_before", r.WarnBefore)
	watchdog.WarnBefore = changeIf(&changed, "warn_before", r.WarnBefore != nil, warnBefore)
	return &controlv1.UpdateWatchdogRequest{
		Watchdog:   watchdog,
		UpdateMask: changed.done(c, "watchdog"),
		Actor:      actorOf(r.Actor),
	}
}

// watchdogCondition is the members of the condition, of which one is given.
type watchdogCondition struct {
	maxDuration, unusedFor, emptyFor, hostAbsentFor, aloneFor, participantMaxDuration, unadmittedFor time.Duration
}

// addTo sets the condition, and returns the names of the fields that are given.
func (w watchdogCondition) addTo(watchdog *controlv1.Watchdog, c *checks) []string {
	var names []string
	given := func(name string, value time.Duration) *durationpb.Duration {
		if value != 0 {
			names = append(names, name)
		}
		return c.duration("watchdog."+name, value)
	}
	if value := given("max_duration", w.maxDuration); value != nil {
		watchdog.Condition = &controlv1.Watchdog_MaxDuration{MaxDuration: value}
	}
	if value := given("unused_for", w.unusedFor); value != nil {
		watchdog.Condition = &controlv1.Watchdog_UnusedFor{UnusedFor: value}
	}
	if value := given("empty_for", w.emptyFor); value != nil {
		watchdog.Condition = &controlv1.Watchdog_EmptyFor{EmptyFor: value}
	}
	if value := given("host_absent_for", w.hostAbsentFor); value != nil {
		watchdog.Condition = &controlv1.Watchdog_HostAbsentFor{HostAbsentFor: value}
	}
	if value := given("alone_for", w.aloneFor); value != nil {
		watchdog.Condition = &controlv1.Watchdog_AloneFor{AloneFor: value}
	}
	if value := given("participant_max_duration", w.participantMaxDuration); value != nil {
		watchdog.Condition = &controlv1.Watchdog_ParticipantMaxDuration{ParticipantMaxDuration: value}
	}
	if value := given("unadmitted_for", w.unadmittedFor); value != nil {
		watchdog.Condition = &controlv1.Watchdog_UnadmittedFor{UnadmittedFor: value}
	}
	if len(names) > 1 {
		c.fail("watchdog", "must have one condition alone, not "+strings.Join(names, " and "))
	}
	return names
}
