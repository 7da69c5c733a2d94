package boxoffice

import (
	"context"
	"time"
)

// RunwayWindow is the time up to now over which usage is measured.
type RunwayWindow string

// Windows of usage.
const (
	RunwayHour RunwayWindow = "1h"
	RunwayDay  RunwayWindow = "24h"
	RunwayWeek RunwayWindow = "7d"
)

// GetRunway is the request of [Billing.Runway]: over which time rooms are compared.
type GetRunway struct {
	// Of the rooms; empty: [RunwayDay].
	Window RunwayWindow `json:"window,omitzero"`
}

// Runway is how long the credit lasts.
type Runway struct {
	// The instant that the answer is about.
	At time.Time `json:"at,omitzero"`
	// Prepaid credit that is left; may be negative.
	Balance Amount `json:"balance"`
	// Nothing is left: the balance is 0 or less.
	Empty bool `json:"empty"`
	// For each of the windows.
	Burn []Burn `json:"burn"`
	// The rooms that cost most.
	Rooms ExpensiveRooms `json:"rooms"`
}

// Burn is what usage takes, and how long the balance lasts if it goes on like this.
type Burn struct {
	// The time up to now.
	Window RunwayWindow `json:"window"`
	// What usage took in it.
	Spent Amount `json:"spent"`
	// The same for an hour, rounded up.
	PerHour Amount `json:"per_hour"`
	// How long the balance lasts at this rate; 0: it is spent. Nil: nothing is used.
	RunwayHours *float64 `json:"runway_hours,omitzero"`
	// When it is spent. Zero: it is spent already, or never, or after the year 9999.
	EmptyAt time.Time `json:"empty_at,omitzero"`
}

// ExpensiveRooms are the rooms that cost most.
type ExpensiveRooms struct {
	// As asked for.
	Window RunwayWindow `json:"window"`
	// The start of the hour in which the window begins: rooms are added up by hours.
	From time.Time `json:"from,omitzero"`
	// What all rooms took since then.
	Spent Amount `json:"spent"`
	// Those that took most, the most expensive first; at most ten.
	Top []RoomShare `json:"top"`
}

// RoomShare is what one room cost.
type RoomShare struct {
	// As reported; empty for records without one.
	Room string `json:"room"`
	// What its usage took.
	Amount Amount `json:"amount"`
	// Of what all rooms took: 0 to 1.
	Share float64 `json:"share"`
}

// Runway reads how long the credit lasts, and which rooms use most of it. Payments and adjustments are no usage.
func (b *Billing) Runway(ctx context.Context, request GetRunway, options ...CallOption) (*Runway, error) {
	var asked filter
	asked.text("window", string(request.Window))
	answer := new(Runway)
	op := operation{name: "Billing.Runway", method: "GET", path: "/v1/billing/runway", query: asked.values, mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}
