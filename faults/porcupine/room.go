package main

// room is a name for which there is no room yet, a live room, or an ended one. An empty uid of a live room is not known yet.
type room struct {
	isThere bool
	isLive  bool
	uid     string
}

// named is the room once its uid is known.
func (r room) named(uid string) (room, bool) {
	if uid == "" || uid == r.uid {
		return r, true
	}
	if r.uid != "" {
		return r, false
	}
	r.uid = uid
	return r, true
}

// stepRoom is the life of all rooms of one name. A join makes the first one, where the deployment lets it.
func stepRoom(state room, o op) []room {
	made := room{isThere: true, isLive: true, uid: o.UID}
	switch o.Op {
	case "create":
		if o.Outcome == "refused" {
			return ifSo(state.isLive, state)
		}
		return change(state, o, !state.isLive, made)
	case "end":
		if o.Outcome == "refused" {
			return ifSo(!state.isLive, state)
		}
		ended, isSame := state.named(o.UID)
		ended.isLive = false
		return change(state, o, state.isLive && isSame, ended)
	case "join", "mint":
		return stepAdmission(state, o, made)
	case "see-live":
		seen, isSame := state.named(o.UID)
		return ifSo(state.isLive && isSame, seen)
	case "see-ended":
		seen, isSame := state.named(o.UID)
		return ifSo(state.isThere && !state.isLive && isSame, seen)
	}
	return nil
}

func stepAdmission(state room, o op, made room) []room {
	if !o.isKnown() {
		if o.Op == "join" && !state.isThere {
			return []room{state, made}
		}
		return only(state)
	}
	if !state.isThere {
		return ifSo(o.Op == "join", made)
	}
	seen, isSame := state.named(o.UID)
	return ifSo(state.isLive && isSame, seen)
}
