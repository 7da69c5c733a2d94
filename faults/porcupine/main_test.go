package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// at makes an operation with an answer.
func at(call, end int64, name, outcome string) op {
	return op{Op: name, Outcome: outcome, CallUs: call, ReturnUs: &end}
}

// lost makes an operation without an answer.
func lost(call int64, name string) op {
	return op{Op: name, Outcome: "unknown", CallUs: call}
}

func (o op) of(amount int64) op {
	o.Amount = amount
	return o
}

func (o op) in(uid string) op {
	o.UID = uid
	return o
}

var histories = []struct {
	model, name, result string
	ops                 []op
}{
	{"keys", "works until it is revoked", "ok", []op{
		at(0, 1, "create", "ok"), at(2, 9, "revoke", "ok"), at(3, 4, "use", "ok"), at(5, 6, "use", "refused"), at(10, 11, "use", "refused"),
	}},
	{"keys", "accepted after it was revoked", "illegal", []op{
		at(0, 1, "create", "ok"), at(2, 3, "revoke", "ok"), at(4, 5, "use", "ok"),
	}},
	{"keys", "accepted after a request that was refused", "illegal", []op{
		at(0, 1, "create", "ok"), at(2, 9, "revoke", "ok"), at(3, 4, "use", "refused"), at(5, 6, "use", "ok"),
	}},
	{"keys", "revoked by a request without an answer", "ok", []op{
		at(0, 1, "create", "ok"), lost(2, "revoke"), at(3, 4, "use", "ok"), at(5, 6, "use", "refused"),
	}},
	{"keys", "refused while it is active", "illegal", []op{
		at(0, 1, "create", "ok"), at(2, 3, "use", "refused"),
	}},
	{"keys", "works while it retires", "ok", []op{
		at(0, 1, "create", "ok"), at(2, 3, "rotate", "ok"), at(4, 5, "use", "ok"), at(6, 7, "use", "refused"),
	}},
	{"keys", "works after a rotation without an overlap", "illegal", []op{
		at(0, 1, "create", "ok"), at(2, 3, "retire", "ok"), at(4, 5, "use", "ok"),
	}},
	{"keys", "is replaced twice", "illegal", []op{
		at(0, 1, "create", "ok"), at(2, 9, "rotate", "ok"), at(3, 8, "rotate", "ok"),
	}},
	{"rooms", "ends, and is made again", "ok", []op{
		at(0, 1, "create", "ok").in("rm_1"), at(2, 3, "join", "ok").in("rm_1"), at(4, 5, "end", "ok").in("rm_1"),
		at(6, 7, "see-ended", "ok").in("rm_1"), at(8, 9, "create", "ok").in("rm_2"), at(10, 11, "join", "ok").in("rm_2"),
	}},
	{"rooms", "admits after its end", "illegal", []op{
		at(0, 1, "create", "ok").in("rm_1"), at(2, 3, "end", "ok").in("rm_1"), at(4, 5, "join", "ok").in("rm_1"),
	}},
	{"rooms", "is two rooms at once", "illegal", []op{
		at(0, 1, "join", "ok").in("rm_1"), at(2, 3, "join", "ok").in("rm_2"),
	}},
	{"rooms", "is made twice", "illegal", []op{
		at(0, 5, "create", "ok").in("rm_1"), at(1, 6, "create", "ok").in("rm_2"),
	}},
	{"rooms", "is made by a join without an answer", "ok", []op{
		lost(0, "join"), at(1, 2, "create", "refused"), at(3, 4, "mint", "ok").in("rm_1"),
	}},
	{"rooms", "is ended by a request without an answer", "ok", []op{
		at(0, 1, "create", "ok").in("rm_1"), lost(2, "end"), at(3, 4, "join", "ok").in("rm_1"), at(5, 6, "end", "refused"),
	}},
	{"balances", "reads see what was added before", "ok", []op{
		at(0, 1, "add", "ok").of(100), at(2, 9, "add", "ok").of(-30), at(3, 4, "read", "ok").of(100), at(5, 6, "read", "ok").of(70),
	}},
	{"balances", "a read that is too old", "illegal", []op{
		at(0, 1, "add", "ok").of(100), at(2, 3, "add", "ok").of(-30), at(4, 5, "read", "ok").of(100),
	}},
	{"balances", "a charge without an answer", "ok", []op{
		at(0, 1, "add", "ok").of(100), lost(2, "add").of(-30), at(3, 4, "read", "ok").of(100), at(5, 6, "read", "ok").of(70),
	}},
	{"balances", "a charge that comes and goes", "illegal", []op{
		at(0, 1, "add", "ok").of(100), lost(2, "add").of(-30), at(3, 4, "read", "ok").of(70), at(5, 6, "read", "ok").of(100),
	}},
	{"budgets", "admits what fits", "ok", []op{
		at(0, 1, "create", "ok").of(100), at(2, 5, "hold", "ok").of(60), at(3, 6, "hold", "refused").of(60), at(7, 8, "read", "ok").of(40),
	}},
	{"budgets", "admits more than fits", "illegal", []op{
		at(0, 1, "create", "ok").of(100), at(2, 5, "hold", "ok").of(60), at(3, 6, "hold", "ok").of(60),
	}},
	{"budgets", "refuses what fits", "illegal", []op{
		at(0, 1, "create", "ok").of(100), at(2, 3, "hold", "ok").of(60), at(4, 5, "hold", "refused").of(40),
	}},
	{"budgets", "a hold without an answer", "ok", []op{
		at(0, 1, "create", "ok").of(100), lost(2, "hold").of(60), at(3, 4, "hold", "refused").of(60), at(5, 6, "read", "ok").of(40),
	}},
}

func TestHistories(t *testing.T) {
	for _, each := range histories {
		t.Run(each.model+" "+each.name, func(t *testing.T) {
			if result := check(models[each.model], each.ops, time.Minute); result != each.result {
				t.Errorf("%s, want %s", result, each.result)
			}
		})
	}
}

func TestRun(t *testing.T) {
	asked := `{"model": "balances", "search_ms_max": 1000, "histories": [
		{"object": "a", "ops": [{"op": "add", "outcome": "ok", "amount": 5, "client": 1, "callUs": 0, "returnUs": 1},
		                        {"op": "read", "outcome": "ok", "amount": 5, "client": 2, "callUs": 2, "returnUs": 3}]},
		{"object": "b", "ops": [{"op": "read", "outcome": "ok", "amount": 5, "client": 1, "callUs": 0, "returnUs": 1}]}]}`
	var out bytes.Buffer
	if err := run(strings.NewReader(asked), &out); err != nil {
		t.Fatal(err)
	}
	var verdicts []verdict
	if err := json.Unmarshal(out.Bytes(), &verdicts); err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != 2 || verdicts[0] != (verdict{"a", "ok", 2}) || verdicts[1] != (verdict{"b", "illegal", 1}) {
		t.Errorf("got %v", verdicts)
	}
	if err := run(strings.NewReader(`{"model": "shoes"}`), &out); err == nil {
		t.Error("there is no such model")
	}
}
