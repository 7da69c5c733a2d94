package boxoffice

import "context"

// Runway reads how long the credit lasts, and which rooms use most of it. Payments and adjustments are no usage.
func (b *Billing) Runway(ctx context.Context, request GetRunway, options ...CallOption) (*Runway, error) {
	var asked filter
	asked.text("window", string(request.Window))
	answer := new(Runway)
	op := operation{name: "Billing.Runway", method: "GET", path: "/v1/billing/runway", query: asked.values, mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}
