package main

import "github.com/anishathalye/porcupine"

// models has a model for each kind of object. Each history is of one object.
var models = map[string]porcupine.NondeterministicModel{
	"keys":     modelOf(keyState("none"), stepKey),
	"rooms":    modelOf(room{}, stepRoom),
	"balances": modelOf(int64(0), stepBalance),
	"budgets":  modelOf(budget{}, stepBudget),
}

// modelOf makes a model of a first state, and of the states in which an operation may leave an object. If there are none,
// the operation cannot have had its answer in that state.
func modelOf[S comparable](first S, step func(S, op) []S) porcupine.NondeterministicModel {
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(state, input, _ any) []any {
			var next []any
			for _, each := range step(state.(S), input.(op)) {
				next = append(next, each)
			}
			return next
		},
	}
}

// only is the state that is left.
func only[S any](state S) []S { return []S{state} }

// ifSo is the state that is left if the answer is possible.
func ifSo[S any](isPossible bool, state S) []S {
	if isPossible {
		return only(state)
	}
	return nil
}

// change leads to another state. Without an answer, it may have been impossible.
func change[S any](state S, o op, isPossible bool, next S) []S {
	if isPossible {
		return only(next)
	}
	return ifSo(!o.isKnown(), state)
}
