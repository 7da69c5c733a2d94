package main

// keyState is none, active, retiring or revoked (specification 3.2).
type keyState string

// stepKey is the life of an API key. "rotate" replaces it after an overlap, "retire" at once.
func stepKey(state keyState, o op) []keyState {
	works := state == "active" || state == "retiring"
	switch o.Op {
	case "create":
		return ifSo(state == "none", keyState("active"))
	case "rotate":
		return change(state, o, state == "active", "retiring")
	case "retire":
		return change(state, o, state == "active", "revoked")
	case "revoke":
		// Revoking it again changes nothing.
		return change(state, o, works || state == "revoked", "revoked")
	case "use":
		if o.isOk() {
			return ifSo(works, state)
		}
		// The overlap may be over.
		return ifSo(state != "active", state)
	}
	return nil
}
