package boxoffice

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrClientClosed says that [Client.Close] was called. Nothing was sent.
var ErrClientClosed = errors.New("the client is closed")

// Error is a failure with its details: the service refused, failed, or was not reached, or the request was
// wrong before it was sent. It is one of the sentinels for [errors.Is].
type Error struct {
	// Kind is one of the sentinels, such as [ErrNotFound].
	Kind error
	// Code is the name of a gRPC code such as NOT_FOUND, or the status of an HTTP answer such as 404. It is
	// empty if the request was wrong before it was sent.
	Code string
	// Reason is a stable identifier such as [ReasonNoCredit]; empty if there is none.
	Reason string
	// Message says what happened, for people.
	Message string
	// RequestID is for the operator of the service; empty if there was no answer.
	RequestID string
	// Fields are the invalid fields of the request, for [ErrInvalid].
	Fields []FieldViolation
	// Metadata has further details, such as the missing capability.
	Metadata map[string]string
	// RetryAfter is the minimum wait that the service asks for; 0 if it asks for none.
	RetryAfter time.Duration

	cause error
}

// FieldViolation is an invalid field of a request.
type FieldViolation struct {
	// Field is its path: in the contract, such as policy.max_participants, or of REST, such as records/0/seconds; empty
	// if no single field is wrong.
	Field string `json:"field"`
	// Description says what it accepts.
	Description string `json:"description"`
}

// Error is the message with its cause, the code, the reason and the request id.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString("boxoffice: ")
	text.WriteString(e.Message)
	if e.cause != nil && e.Kind != ErrTimeout {
		fmt.Fprintf(&text, ": %v", e.cause)
	}
	details := make([]string, 0, 3)
	for _, each := range []string{e.Code, e.Reason} {
		if each != "" {
			details = append(details, each)
		}
	}
	if e.RequestID != "" {
		details = append(details, "request "+e.RequestID)
	}
	if len(details) > 0 {
		fmt.Fprintf(&text, " (%s)", strings.Join(details, ", "))
	}
	return text.String()
}

// Unwrap returns the sentinel, and the cause if there is one.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// invalid is a mistake that is found before anything is sent.
func invalid(field, description string) *Error {
	return invalidFields([]FieldViolation{{Field: field, Description: description}})
}

func invalidFields(fields []FieldViolation) *Error {
	texts := make([]string, len(fields))
	for i, each := range fields {
		texts[i] = strings.TrimSpace(each.Field + " " + each.Description)
	}
	return &Error{Kind: ErrInvalid, Message: strings.Join(texts, "; "), Fields: fields}
}

func closedError() *Error {
	return &Error{Kind: ErrClientClosed, Message: "the client is closed"}
}

func timeoutError() *Error {
	return &Error{
		Kind:    ErrTimeout,
		Code:    "DEADLINE_EXCEEDED",
		Message: "there was no answer in time",
		cause:   context.DeadlineExceeded,
	}
}

// unreachable is a failure without an answer.
func unreachable(cause error) *Error {
	return &Error{
		Kind:    ErrUnavailable,
		Code:    "UNAVAILABLE",
		Message: "the service was not reached, or did not answer",
		cause:   cause,
	}
}

// errorOfContext is the error of a call whose context has ended.
func errorOfContext(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return timeoutError()
	}
	if errors.Is(cause, ErrClientClosed) {
		return closedError()
	}
	if cause == nil || errors.Is(cause, err) {
		return fmt.Errorf("boxoffice: %w", err)
	}
	return fmt.Errorf("boxoffice: %w: %w", err, cause)
}

// isTransient says whether a call may be repeated that takes effect once. Source: specification 7.3.
func isTransient(e *Error) bool {
	return e.Kind == ErrUnavailable || e.Kind == ErrTimeout
}

// isTransientREST is the same of REST. Internal errors of the service may also be temporary. Source:
// specification 7.1.
func isTransientREST(e *Error) bool {
	return isTransient(e) || e.Code == strconv.Itoa(500)
}

func never(*Error) bool {
	return false
}
