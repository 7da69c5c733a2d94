package boxoffice

import "context"

// Rates are the prices.
type Rates struct {
	rest *rest
}

// Get reads the rate card in effect. It needs no API key.
func (r *Rates) Get(ctx context.Context, options ...CallOption) (*RateCard, error) {
	answer := new(RateCard)
	op := operation{name: "Rates.Get", method: "GET", path: "/v1/rates", mayRepeat: true, isOpen: true}
	return orNil(answer, r.rest.call(ctx, op, answer, options))
}

// Simulate prices a room that you make up, as if a relay reported it now. Nothing is charged.
func (r *Rates) Simulate(ctx context.Context, request SimulateRoom, options ...CallOption) (*Simulation, error) {
	if request.Participants == nil {
		request.Participants = []SimulatedParticipants{}
	}
	answer := new(Simulation)
	op := operation{name: "Rates.Simulate", method: "POST", path: "/v1/rates/simulate", body: request, mayRepeat: true}
	return orNil(answer, r.rest.call(ctx, op, answer, options))
}
