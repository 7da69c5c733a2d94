package boxoffice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// rest calls the REST interface.
type rest struct {
	base   string
	key    Secret
	client *http.Client
	calls  *caller
}

// operation is one request of REST.
type operation struct {
	// name is for the log.
	name   string
	method string
	path   string
	query  url.Values
	// body is sent as JSON unless it is nil.
	body any
	// mayRepeat says that a second request has no second effect.
	mayRepeat bool
	// isWrite says that the request has an idempotency key, and so may be repeated.
	isWrite bool
	// isOpen says that no API key is needed.
	isOpen bool
	// hasSecret says that the answer contains a key. Its connection is not used again: if a proxy sent the
	// answer twice, net/http would write the second one to the log.
	hasSecret bool
}

func newRest(options Options, calls *caller) *rest {
	transport := newTransport(options.TLS)
	transport.ForceAttemptHTTP2 = true
	return &rest{
		base:   strings.TrimRight(options.URL, "/"),
		key:    options.APIKey,
		client: newHTTPClient(transport, options.WrapTransport),
		calls:  calls,
	}
}

func (r *rest) close() {
	r.client.CloseIdleConnections()
}

func (r *rest) findTenant(ctx context.Context) (string, error) {
	billing, err := (&Billing{r}).Get(ctx)
	if err != nil {
		return "", err
	}
	return billing.Tenant.ID, nil
}

// call sends a request and decodes its answer into answer, unless that is nil.
//
// All attempts of a write have the same idempotency key, so it takes effect once.
func (r *rest) call(ctx context.Context, op operation, answer any, options []CallOption) error {
	if r.key.IsZero() && !op.isOpen {
		return invalid("APIKey", "is needed for this call")
	}
	body, err := encode(op.body)
	if err != nil {
		return invalid("", err.Error())
	}
	mayRetry := never
	if op.mayRepeat || op.isWrite {
		mayRetry = isTransientREST
	}
	settings := r.calls.options(options)
	key, err := keyOf(op, settings)
	if err != nil {
		return err
	}
	text, err := attempt(ctx, r.calls, op.name, settings, mayRetry,
		func(ctx context.Context) ([]byte, error) { return r.send(ctx, op, body, key) })
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return &Error{Kind: ErrInternal, Code: "200", Message: "the answer is not the expected JSON", cause: err}
	}
	return nil
}

// keyOf is the idempotency key of a write, and empty for other operations.
func keyOf(op operation, settings callOptions) (string, error) {
	if !op.isWrite {
		return "", nil
	}
	return settings.key('!', 255, "must be 1 to 255 visible ASCII characters")
}

func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return json.Marshal(body)
}

func (r *rest) send(ctx context.Context, op operation, body []byte, idempotencyKey string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, op.method, r.address(op), bytes.NewReader(body))
	if err != nil {
		return nil, invalid("URL", "must be an address")
	}
	if !r.key.IsZero() {
		request.Header.Set("Authorization", "Bearer "+r.key.Reveal())
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	request.Close = op.hasSecret
	response, err := r.client.Do(request)
	if err != nil {
		return nil, unreachable(withoutURL(err))
	}
	defer response.Body.Close()
	// An answer only counts if it is complete.
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax+1))
	if err != nil {
		return nil, unreachable(err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, errorOfAnswer(response, text, time.Now())
	}
	if len(text) > answerBytesMax {
		return nil, &Error{Kind: ErrInternal, Code: strconv.Itoa(response.StatusCode), Message: "the answer is too long"}
	}
	return text, nil
}

func (r *rest) address(op operation) string {
	address := r.base + op.path
	if len(op.query) > 0 {
		address += "?" + op.query.Encode()
	}
	return address
}

// withoutURL drops method and address, which the message of the http package repeats.
func withoutURL(err error) error {
	var failure *url.Error
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}

// errorOfAnswer is the error of an answer of REST; text may be anything.
func errorOfAnswer(response *http.Response, text []byte, now time.Time) *Error {
	var body struct {
		Error any `json:"error"`
		Code  any `json:"code"`
	}
	// Without a readable body, the status remains.
	_ = json.Unmarshal(text, &body)
	status := response.StatusCode
	failure := &Error{
		Kind:       kindOfStatus(status),
		Code:       strconv.Itoa(status),
		Message:    fmt.Sprintf("the service answered %d", status),
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: parseRetryAfter(response.Header.Get("Retry-After"), now),
	}
	if message, ok := body.Error.(string); ok {
		failure.Message = message
	}
	if code, ok := body.Code.(string); ok {
		failure.Reason = strings.ToUpper(code)
	}
	switch status {
	case http.StatusPaymentRequired:
		failure.Reason = ReasonNoCredit
	case http.StatusBadRequest:
		failure.Fields = []FieldViolation{violationOf(response.Header.Get("Invalid-Field"), failure.Message)}
	}
	return failure
}

// violationOf describes a field by what the message says of it.
func violationOf(header, message string) FieldViolation {
	description := strings.TrimPrefix(message, "invalid request: ")
	field, err := url.PathUnescape(header)
	if err != nil || field == "" || !utf8.ValidString(field) {
		// What is not percent-encoded UTF-8, the service did not send.
		return FieldViolation{Description: description}
	}
	return FieldViolation{Field: field, Description: strings.TrimPrefix(description, field+" ")}
}

// parseRetryAfter reads seconds or a date. Source: RFC 9110, 10.2.3.
func parseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}
