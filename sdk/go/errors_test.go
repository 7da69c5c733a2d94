package boxoffice

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
)

// sentinels are all kinds, by their names in Go.
func sentinels() map[string]error {
	return map[string]error{
		"ErrUnauthenticated": ErrUnauthenticated,
		"ErrDenied":          ErrDenied,
		"ErrInvalid":         ErrInvalid,
		"ErrNotFound":        ErrNotFound,
		"ErrExists":          ErrExists,
		"ErrClosed":          ErrClosed,
		"ErrPrecondition":    ErrPrecondition,
		"ErrUnavailable":     ErrUnavailable,
		"ErrInternal":        ErrInternal,
		"ErrTimeout":         ErrTimeout,
		"ErrRateLimited":     ErrRateLimited,
	}
}

// errorTable is the part of the contract's table that clients need.
type errorTable struct {
	Kinds    []struct{ Go, Code, Reason string }
	Statuses []struct {
		Go     string
		Status int
	}
	Anytime    []struct{ Code, Reason string }
	Conditions []struct{ Code, Reason string }
}

func readErrorTable(t *testing.T) errorTable {
	t.Helper()
	text, err := os.ReadFile("../../proto/boxoffice/control/v1/errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var table errorTable
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// codeOf is the code with a name of the contract.
func codeOf(t *testing.T, name string) connect.Code {
	t.Helper()
	for code := connect.CodeCanceled; code <= connect.CodeUnauthenticated; code++ {
		if codeName(code) == name {
			return code
		}
	}
	t.Fatalf("no code %s", name)
	return 0
}

// only checks that err is the sentinel, and none of the others.
func only(t *testing.T, err, want error) {
	t.Helper()
	for name, each := range sentinels() {
		if errors.Is(err, each) != (each == want) {
			t.Errorf("errors.Is(%v, %s) is %v", err, name, each != want)
		}
	}
}

func TestReasons(t *testing.T) {
	table := readErrorTable(t)
	wanted := func(code, reason string) error {
		found := ErrInternal
		for _, kind := range table.Kinds {
			if kind.Code == code && (kind.Reason == "" || kind.Reason == reason) {
				found = sentinels()[kind.Go]
				if kind.Reason == reason {
					return found
				}
			}
		}
		return found
	}
	seen := 0
	for _, each := range append(table.Conditions, table.Anytime...) {
		seen++
		t.Run(each.Reason, func(t *testing.T) {
			client, _ := clientOf(t, Options{Retries: Ptr(0)}, refusal{code: codeOf(t, each.Code), reason: each.Reason}.step)
			_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
			only(t, err, wanted(each.Code, each.Reason))
			failure := detailsOf(t, err)
			if failure.Code != each.Code || failure.Reason != each.Reason || failure.RequestID != "req_1" {
				t.Errorf("details: %+v", failure)
			}
			if len(failure.Metadata) != 1 || failure.Metadata["excess"] != "room.end" {
				t.Errorf("metadata: %v", failure.Metadata)
			}
		})
	}
	if seen < 30 {
		t.Errorf("only %d reasons", seen)
	}
}

func TestCodes(t *testing.T) {
	for _, each := range readErrorTable(t).Kinds {
		if each.Reason != "" {
			continue
		}
		for _, reason := range []string{"", "OF_A_LATER_VERSION"} {
			t.Run(each.Code+reason, func(t *testing.T) {
				client, _ := clientOf(t, Options{Retries: Ptr(0)}, refusal{code: codeOf(t, each.Code), reason: reason}.step)
				_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
				only(t, err, sentinels()[each.Go])
				if failure := detailsOf(t, err); failure.Code != each.Code || failure.Reason != reason {
					t.Errorf("details: %+v", failure)
				}
			})
		}
	}
}

func TestReasonWithAnotherCode(t *testing.T) {
	client, _ := clientOf(t, Options{}, refusal{code: connect.CodeNotFound, reason: ReasonRoomEnded}.step)
	_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
	only(t, err, ErrNotFound)
}

func TestFieldsAndRetryAfter(t *testing.T) {
	refused := refusal{code: connect.CodeInvalidArgument, reason: ReasonInvalidRequest, field: "room", retryDelay: 1500 * time.Millisecond}
	client, _ := clientOf(t, Options{}, refused.step)
	_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
	failure := detailsOf(t, err)
	if failure.RetryAfter != 1500*time.Millisecond {
		t.Errorf("retry after %v", failure.RetryAfter)
	}
	if want := (FieldViolation{"room", "must be good"}); len(failure.Fields) != 1 || failure.Fields[0] != want {
		t.Errorf("fields: %v", failure.Fields)
	}
	want := "boxoffice: refused: INVALID_REQUEST (INVALID_ARGUMENT, INVALID_REQUEST, request req_1)"
	if err.Error() != want {
		t.Errorf("message %q", err)
	}
}

func TestUnreadableDetails(t *testing.T) {
	for _, bytes := range []string{"\xff", "\x0a\x7f", "\x0a", "\x08\x01\x1a\x02\x0a\xff", ""} {
		failure := connect.NewError(connect.CodeNotFound, errors.New("no"))
		for _, name := range []string{"google.rpc.ErrorInfo", "google.rpc.BadRequest", "google.rpc.RetryInfo", "other.Type"} {
			addDetail(failure, name, []byte(bytes))
		}
		client, _ := clientOf(t, Options{}, func() (connect.AnyResponse, error) { return nil, failure })
		_, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
		only(t, err, ErrNotFound)
	}
}

func TestStatuses(t *testing.T) {
	cases := map[int]error{302: ErrInternal, 418: ErrInternal}
	for _, each := range readErrorTable(t).Statuses {
		cases[each.Status] = sentinels()[each.Go]
	}
	for status, want := range cases {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			url := startREST(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				fmt.Fprint(w, `{"error":"why"}`)
			})
			client := newTestClient(t, Options{URL: url, Retries: Ptr(0)})
			_, err := client.Billing.Get(t.Context())
			only(t, err, want)
			if failure := detailsOf(t, err); failure.Code != fmt.Sprint(status) || failure.Message != "why" {
				t.Errorf("details: %+v", failure)
			}
		})
	}
}

func TestDetailsOfREST(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := func(status int, body string, headers ...string) *Error {
		header := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			header.Set(headers[i], headers[i+1])
		}
		return errorOfAnswer(&http.Response{StatusCode: status, Header: header}, []byte(body), now)
	}
	last := of(409, `{"error":"last key","code":"would_stop_service"}`, "X-Request-Id", "req_2", "Retry-After", "7")
	if last.Reason != ReasonWouldStopService || last.RequestID != "req_2" || last.RetryAfter != 7*time.Second {
		t.Errorf("details: %+v", last)
	}
	if wrong := of(400, `{"error":"invalid request: name is required"}`); wrong.Fields[0].Description != "name is required" {
		t.Errorf("fields: %v", wrong.Fields)
	}
	for header, want := range map[string]FieldViolation{
		"records/0/seconds": {"records/0/seconds", "must be <= 86400"},
		"%C3%BC%2F%25":      {"ü/%", "records/0/seconds must be <= 86400"},
		"%ff":               {"", "records/0/seconds must be <= 86400"},
		"%":                 {"", "records/0/seconds must be <= 86400"},
	} {
		wrong := of(400, `{"error":"invalid request: records/0/seconds must be <= 86400"}`, "Invalid-Field", header)
		if len(wrong.Fields) != 1 || wrong.Fields[0] != want {
			t.Errorf("Invalid-Field %q is %v", header, wrong.Fields)
		}
	}
	if poor := of(402, `{"error":"insufficient credit"}`); poor.Reason != ReasonNoCredit {
		t.Errorf("reason: %q", poor.Reason)
	}
	for header, want := range map[string]time.Duration{
		"":                              0,
		"x":                             0,
		"-1":                            0,
		"99999999999999999999":          0,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute,
		"Thu, 01 Jan 2020 00:00:00 GMT": 0,
	} {
		if got := of(503, "", "Retry-After", header).RetryAfter; got != want {
			t.Errorf("Retry-After %q is %v", header, got)
		}
	}
	for _, body := range []string{"<html>", "", "null", "[]", `"x"`, `{"error":{"x":1},"code":5}`, strings.Repeat("[", 100_000)} {
		if unknown := of(502, body); unknown.Message != "the service answered 502" || unknown.Reason != "" {
			t.Errorf("details: %+v", unknown)
		}
	}
}
