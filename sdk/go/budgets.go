package boxoffice

import "context"

// Budgets are what the tenant wants to spend at most.
type Budgets struct {
	rest *rest
}

// List returns all budgets, in the order of their ids.
func (b *Budgets) List(ctx context.Context, options ...CallOption) ([]*Budget, error) {
	var answer struct {
		Budgets []*Budget `json:"budgets"`
	}
	op := operation{name: "Budgets.List", method: "GET", path: "/v1/budgets", mayRepeat: true}
	if err := b.rest.call(ctx, op, &answer, options); err != nil {
		return nil, err
	}
	return answer.Budgets, nil
}

// Get reads a budget: what of it is spent, held and free.
func (b *Budgets) Get(ctx context.Context, request GetBudget, options ...CallOption) (*Budget, error) {
	path, err := pathOfBudget(request.ID)
	if err != nil {
		return nil, err
	}
	answer := new(Budget)
	op := operation{name: "Budgets.Get", method: "GET", path: path, mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// Set makes a budget, or changes its limit, its kind and its percentages. It is in force with the next token. Of one
// that exists, what it is of and its period cannot be changed.
func (b *Budgets) Set(ctx context.Context, request SetBudget, options ...CallOption) (*Budget, error) {
	path, err := pathOfBudget(request.ID)
	if err != nil {
		return nil, err
	}
	body := struct {
		Key           string       `json:"key,omitzero"`
		Room          string       `json:"room,omitzero"`
		Customer      string       `json:"customer,omitzero"`
		Period        BudgetPeriod `json:"period"`
		LimitMicros   Micros       `json:"limit_micros"`
		Hard          bool         `json:"hard"`
		AlertPercents []int64      `json:"alert_percents,omitzero"`
	}{request.Key, request.Room, request.Customer, request.Period, request.LimitMicros, request.Hard, request.AlertPercents}
	answer := new(Budget)
	op := operation{name: "Budgets.Set", method: "PUT", path: path, body: body, isWrite: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// Delete deletes a budget: with the next token, it refuses nothing more.
func (b *Budgets) Delete(ctx context.Context, request DeleteBudget, options ...CallOption) error {
	path, err := pathOfBudget(request.ID)
	if err != nil {
		return err
	}
	op := operation{name: "Budgets.Delete", method: "DELETE", path: path, isWrite: true}
	return b.rest.call(ctx, op, nil, options)
}

func pathOfBudget(id string) (string, error) {
	escaped, err := segment("id", id)
	if err != nil {
		return "", err
	}
	return "/v1/budgets/" + escaped, nil
}
