package main

// budget is what may be spent, and what tokens hold of it. Amounts are micros.
type budget struct {
	isThere bool
	max     int64
	held    int64
}

// stepBudget is a hard budget of which nothing is spent, so that what is held only grows.
func stepBudget(state budget, o op) []budget {
	switch o.Op {
	case "create":
		// Making it again changes its amount.
		return only(budget{isThere: true, max: o.Amount, held: state.held})
	case "hold":
		fits := state.held+o.Amount <= state.max
		if o.Outcome == "refused" {
			return ifSo(state.isThere && !fits, state)
		}
		if !state.isThere {
			// Before there is a budget, tokens take nothing from it.
			return only(state)
		}
		held := state
		held.held += o.Amount
		return change(state, o, fits, held)
	case "read":
		return ifSo(state.isThere && o.Amount == max(0, state.max-state.held), state)
	}
	return nil
}
