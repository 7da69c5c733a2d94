package boxoffice

import "context"

// Usage is reports of usage, for applications that measure it themselves, and what was charged for it. Relays
// use the durable reporter of the package relay. Report and LookUp take a relay key, and the others a backend
// key.
type Usage struct {
	rest *rest
}

// Report charges usage: all records or none. It takes a relay key. The request is retried, and may be
// repeated: an id is never charged twice.
func (u *Usage) Report(ctx context.Context, request ReportUsage, options ...CallOption) (*ChargedUsage, error) {
	if request.Records == nil {
		request.Records = []UsageRecord{}
	}
	answer := new(ChargedUsage)
	op := operation{name: "Usage.Report", method: "POST", path: "/v1/usage", body: request, mayRepeat: true}
	return orNil(answer, u.rest.call(ctx, op, answer, options))
}
