package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

// failure is an error as the suite compares it.
type failure struct {
	Kind         string            `json:"kind"`
	Code         any               `json:"code,omitempty"`
	Reason       string            `json:"reason,omitempty"`
	Fields       []string          `json:"fields,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	RetryAfterMS float64           `json:"retry_after_ms,omitempty"`
	HasRequestID bool              `json:"has_request_id,omitempty"`
	Message      string            `json:"message,omitempty"`
}

func describe(err error) *failure {
	if errors.Is(err, context.Canceled) {
		return &failure{Kind: "Cancelled"}
	}
	var ofUsage *usage.Error
	if errors.As(err, &ofUsage) {
		return &failure{Kind: "Usage", Code: string(ofUsage.Code), Message: err.Error()}
	}
	var details *boxoffice.Error
	if !errors.As(err, &details) {
		return &failure{Kind: "Crash", Message: err.Error()}
	}
	result := &failure{
		Kind:         kindOf(err),
		Code:         details.Code,
		Reason:       details.Reason,
		Metadata:     details.Metadata,
		RetryAfterMS: float64(details.RetryAfter) / float64(time.Millisecond),
		HasRequestID: details.RequestID != "",
		Message:      details.Message,
	}
	if status, err := strconv.Atoi(details.Code); err == nil {
		result.Code = status
	}
	for _, each := range details.Fields {
		result.Fields = append(result.Fields, each.Field)
	}
	return result
}

// kindOf finds the sentinel as a program would.
func kindOf(err error) string {
	for _, each := range []struct {
		sentinel error
		kind     string
	}{
		{boxoffice.ErrUnauthenticated, "Unauthenticated"},
		{boxoffice.ErrDenied, "Denied"},
		{boxoffice.ErrInvalid, "Invalid"},
		{boxoffice.ErrNotFound, "NotFound"},
		{boxoffice.ErrExists, "Exists"},
		{boxoffice.ErrClosed, "Closed"},
		{boxoffice.ErrPrecondition, "Precondition"},
		{boxoffice.ErrUnavailable, "Unavailable"},
		{boxoffice.ErrInternal, "Internal"},
		{boxoffice.ErrTimeout, "Timeout"},
		{boxoffice.ErrRateLimited, "RateLimited"},
	} {
		if errors.Is(err, each.sentinel) {
			return each.kind
		}
	}
	return "Unknown"
}
