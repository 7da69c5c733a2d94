package boxoffice

import "context"

// Alerts are the thresholds below which the tenant is alerted.
type Alerts struct {
	rest *rest
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
