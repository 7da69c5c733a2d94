package usage

import "sync/atomic"

// AdmittedState says whether the service admits new participants, as far as this relay knows.
type AdmittedState string

const (
	// Admitted: new participants may come in.
	Admitted AdmittedState = "true"
	// NotAdmitted: admit no new participants; present ones stay, and are reported.
	NotAdmitted AdmittedState = "false"
	// Unknown: there was no answer since the start. While the service is unreachable, the last state stays.
	Unknown AdmittedState = "unknown"
)

type admission struct {
	emit  emit
	state atomic.Value
}

func newAdmission(emit emit) *admission {
	admission := &admission{emit: emit}
	admission.state.Store(Unknown)
	return admission
}

func (a *admission) get() AdmittedState {
	state, _ := a.state.Load().(AdmittedState)
	return state
}

func (a *admission) set(isAdmitted bool) {
	state := NotAdmitted
	if isAdmitted {
		state = Admitted
	}
	before, _ := a.state.Swap(state).(AdmittedState)
	if before != state {
		a.emit(AdmittedChanged{Admitted: state, Before: before})
	}
}
