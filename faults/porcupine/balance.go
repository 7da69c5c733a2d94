package main

// stepBalance adds amounts, and reads the sum. Amounts are micros.
func stepBalance(state int64, o op) []int64 {
	switch o.Op {
	case "add":
		return only(state + o.Amount)
	case "read":
		return ifSo(state == o.Amount, state)
	}
	return nil
}
