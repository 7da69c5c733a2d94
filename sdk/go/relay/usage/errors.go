package usage

// ErrorCode says why the reporter could not be opened, or did not accept usage. Codes are stable and meant for programs.
//
// A code is an error that [errors.Is] finds in the errors of this package.
type ErrorCode string

const (
	// InvalidOptions: the reporter cannot be opened with these options.
	InvalidOptions ErrorCode = "invalid_options"
	// InvalidUsage: the usage breaks a rule of the service; nothing was stored.
	InvalidUsage ErrorCode = "invalid_usage"
	// SpoolInUse: another reporter, possibly in another process, uses this folder.
	SpoolInUse ErrorCode = "spool_in_use"
	// SpoolFailed: the disk failed. Nothing of this call is stored; all earlier calls are.
	SpoolFailed ErrorCode = "spool_failed"
	// SpoolBroken: a failed write could not be taken back, so nothing more is accepted until the next start.
	SpoolBroken ErrorCode = "spool_broken"
	// KeyUnreadable: the source of the relay key failed or returned something that is not a key.
	KeyUnreadable ErrorCode = "key_unreadable"
	// Closed: the reporter is closed, or the session has ended.
	Closed ErrorCode = "closed"
)

// Error returns the code.
func (c ErrorCode) Error() string { return string(c) }

// Error is an error of the reporter. Test for its code with [errors.Is].
type Error struct {
	// Code says why.
	Code    ErrorCode
	message string
	cause   error
}

// Error returns what is wrong, and the cause if there is one.
func (e *Error) Error() string {
	text := "usage: " + e.message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Is reports whether target is the code.
func (e *Error) Is(target error) bool { return target == error(e.Code) }

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.cause }
