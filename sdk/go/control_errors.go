package boxoffice

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// errorOfCall is the error of a failed call of the control plane. Errors that are ours stay as they are.
func errorOfCall(err error) error {
	var ours *Error
	if errors.As(err, &ours) {
		return err
	}
	var failure *connect.Error
	if !errors.As(err, &failure) {
		return unreachable(err)
	}
	if !connect.IsWireError(err) && isBroken(failure) {
		return unreachable(withoutURL(failure.Unwrap()))
	}
	code := codeName(failure.Code())
	result := &Error{Code: code, Message: failure.Message(), RequestID: failure.Meta().Get("X-Request-Id")}
	if failure.Code() == connect.CodeDeadlineExceeded {
		// The service may notice the deadline of a context first.
		result.cause = context.DeadlineExceeded
	}
	for _, detail := range failure.Details() {
		result.add(detail)
	}
	result.Kind = kindOfCall(code, result.Reason)
	if result.Message == "" {
		result.Message = "the control plane answered " + code
	}
	return result
}

// isBroken says whether an error that the service did not send is that of a connection. There, connect has
// several codes, and the error of the network inside.
func isBroken(failure *connect.Error) bool {
	switch failure.Code() {
	case connect.CodeUnavailable:
		return true
	case connect.CodeCanceled, connect.CodeDeadlineExceeded:
		return false
	}
	return errors.Unwrap(failure.Unwrap()) != nil && !errors.Is(failure, proto.Error)
}

// codeName is the name of a code as the contract writes it.
func codeName(code connect.Code) string {
	if code == connect.CodeCanceled {
		return "CANCELLED"
	}
	return strings.ToUpper(code.String())
}

// kindOfCall lets a reason count only together with its own code: with another one, it is not a known reason.
func kindOfCall(code, reason string) error {
	if known, kind := kindOfReason(reason); kind != nil && known == code {
		return kind
	}
	return kindOfCode(code)
}

// add reads a detail. It is decoded by hand: generated code for google.rpc would collide with that of other
// modules in the same program.
func (e *Error) add(detail *connect.ErrorDetail) {
	switch detail.Type() {
	case "google.rpc.ErrorInfo":
		e.addInfo(detail.Bytes())
	case "google.rpc.BadRequest":
		for _, violation := range fieldsOf(detail.Bytes())[1] {
			parts := fieldsOf(violation)
			e.Fields = append(e.Fields, FieldViolation{Field: last(parts[1]), Description: last(parts[2])})
		}
	case "google.rpc.RetryInfo":
		e.RetryAfter = retryDelay(detail.Bytes())
	}
}

func (e *Error) addInfo(bytes []byte) {
	parts := fieldsOf(bytes)
	e.Reason = last(parts[1])
	metadata := make(map[string]string)
	for _, entry := range parts[3] {
		pair := fieldsOf(entry)
		metadata[last(pair[1])] = last(pair[2])
	}
	if e.RequestID == "" {
		e.RequestID = metadata["request_id"]
	}
	maps.DeleteFunc(metadata, func(name, _ string) bool { return name == "request_id" })
	if len(metadata) > 0 {
		e.Metadata = metadata
	}
}

func retryDelay(bytes []byte) time.Duration {
	for _, each := range fieldsOf(bytes)[1] {
		var delay durationpb.Duration
		if proto.Unmarshal(each, &delay) == nil {
			return max(delay.AsDuration(), 0)
		}
	}
	return 0
}

// fieldsOf returns the strings and messages of a message by their numbers, as far as it is readable.
func fieldsOf(message []byte) map[protowire.Number][][]byte {
	fields := make(map[protowire.Number][][]byte)
	for len(message) > 0 {
		number, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return fields
		}
		message = message[length:]
		length = protowire.ConsumeFieldValue(number, kind, message)
		if length < 0 {
			return fields
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			fields[number] = append(fields[number], value)
		}
		message = message[length:]
	}
	return fields
}

func last(values [][]byte) string {
	if len(values) == 0 {
		return ""
	}
	return string(values[len(values)-1])
}
