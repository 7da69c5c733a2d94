package boxoffice

import (
	"context"
	"time"
)

// Alerts are the thresholds below which the tenant is alerted.
type Alerts struct {
	rest *rest
}

// ThresholdKind is what a threshold compares.
type ThresholdKind string

// Kinds of thresholds.
const (
	// ThresholdBalance is an amount of credit.
	ThresholdBalance ThresholdKind = "balance"
	// ThresholdRunway is how many hours the credit lasts.
	ThresholdRunway ThresholdKind = "runway"
)

// Threshold is a floor under the credit.
type Threshold struct {
	// What it compares.
	Kind ThresholdKind `json:"kind"`
	// For [ThresholdBalance]: the amount, 0 or more.
	BelowMicros *Micros `json:"below_micros,omitzero"`
	// For [ThresholdRunway]: 1 to 8760 hours.
	BelowHours int64 `json:"below_hours,omitzero"`
}

// ThresholdStatus is a threshold that was set, and whether the balance is below it.
type ThresholdStatus struct {
	Threshold
	// Since when the balance is below it. Zero: it is not.
	RaisedAt time.Time `json:"raised_at,omitzero"`
}

// SetAlerts is the request of [Alerts.Set]: all thresholds.
type SetAlerts struct {
	// At most ten, each once. None turns alerts off.
	Thresholds []Threshold `json:"thresholds"`
}

// Get reads the thresholds: those of [ThresholdBalance] first, then the largest first. There are none until they are
// set. An exempt tenant is not alerted.
func (a *Alerts) Get(ctx context.Context, options ...CallOption) ([]*ThresholdStatus, error) {
	return a.thresholds(ctx, operation{name: "Alerts.Get", method: "GET", path: "/v1/alerts", mayRepeat: true}, options)
}

// Set replaces all thresholds. One that was set before stays as it is. A new one is raised at once if the balance
// is below it. One that is left out ends without an event.
func (a *Alerts) Set(ctx context.Context, request SetAlerts, options ...CallOption) ([]*ThresholdStatus, error) {
	if request.Thresholds == nil {
		request.Thresholds = []Threshold{}
	}
	op := operation{name: "Alerts.Set", method: "PUT", path: "/v1/alerts", body: request, isWrite: true}
	return a.thresholds(ctx, op, options)
}

func (a *Alerts) thresholds(ctx context.Context, op operation, options []CallOption) ([]*ThresholdStatus, error) {
	var answer struct {
		Thresholds []*ThresholdStatus `json:"thresholds"`
	}
	if err := a.rest.call(ctx, op, &answer, options); err != nil {
		return nil, err
	}
	return answer.Thresholds, nil
}
