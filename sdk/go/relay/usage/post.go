package usage

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
	"boxoffice.example/boxoffice/sdk/go/relay/internal/web"
)

const (
	answerMax      = 30 * time.Second
	answerBytesMax = 1 << 20
)

type outcomeKind int

const (
	// retryable: send the same batch again.
	retryable outcomeKind = iota
	// accepted: every record is charged, a duplicate, or exempt.
	accepted
	// refused: the service will never accept this batch, and charged none of it.
	refused
	// keyRefused: the service does not know the key.
	keyRefused
)

// outcome is the meaning of an answer. Source: specification 4.12 and 7.1.
type outcome struct {
	kind outcomeKind
	// Of an accepted batch.
	charged, duplicates, unbilled int64
	isAdmitted                    bool
	// message of the service, of a refused batch.
	message string
	// status is 0 without an answer.
	status int
	// Of a batch to be sent again. after is the server's minimum wait.
	reason RetryReason
	cause  error
	after  time.Duration
}

// post is one attempt at POST /v1/usage.
type post struct {
	url, key, body string
	client         *http.Client
	clock          Clock
}

var errTimeout = errors.New("no answer within 30 seconds")

// send sends the batch. The end of the context ends the attempt, and the outcome is that of a lost connection.
func (p post) send(ctx context.Context) outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := p.clock.AfterFunc(answerMax, func() { cancel(errTimeout) })
	defer stop()
	answer, text, err := p.exchange(ctx)
	switch {
	case err == nil:
		return interpret(answer, text, p.clock)
	case context.Cause(ctx) == errTimeout:
		return outcome{reason: RetryTimeout, cause: errTimeout}
	}
	return outcome{reason: RetryNetwork, cause: err}
}

// exchange returns an answer and its body. An answer only counts if it is complete.
func (p post) exchange(ctx context.Context) (answer *http.Response, text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, strings.NewReader(p.body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err = p.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	// A longer answer is not the service's, so a part of it means as little as the whole.
	text, _, err = web.ReadUpTo(answer.Body, answerBytesMax)
	return answer, text, err
}

func interpret(answer *http.Response, text []byte, clock Clock) outcome {
	status := answer.StatusCode
	json, _ := plainjson.Object(bytes.ToValidUTF8(text, []byte("\ufffd")))
	message, hasMessage := json["error"].(string)
	after := web.RetryAfter(answer.Header.Get("Retry-After"), clock.Wall())
	switch {
	case status == http.StatusOK:
		return readAccepted(json)
	case status == http.StatusUnauthorized:
		return outcome{kind: keyRefused, status: status}
	// Only the service itself may reject a record. Answers of proxies in between do not count.
	case status == http.StatusBadRequest && hasMessage:
		return outcome{kind: refused, status: status, message: message}
	case status == http.StatusRequestEntityTooLarge:
		return outcome{kind: refused, status: status, message: "the body is too large"}
	case status == http.StatusTooManyRequests:
		return outcome{reason: RetryRateLimited, status: status, after: after}
	case status >= http.StatusInternalServerError:
		return outcome{reason: RetryServerError, status: status, after: after}
	}
	return outcome{reason: RetryUnexpectedAnswer, status: status, after: after}
}

func readAccepted(json map[string]any) outcome {
	charged, hasCharged := plainjson.Whole(json["charged"])
	duplicates, hasDuplicates := plainjson.Whole(json["duplicates"])
	unbilled, hasUnbilled := plainjson.Whole(json["unbilled"])
	isAdmitted, hasAdmitted := json["admitted"].(bool)
	if !hasCharged || !hasDuplicates || !hasUnbilled || !hasAdmitted {
		return outcome{reason: RetryUnexpectedAnswer, status: http.StatusOK}
	}
	return outcome{
		kind:       accepted,
		charged:    charged,
		duplicates: duplicates,
		unbilled:   unbilled,
		isAdmitted: isAdmitted,
		status:     http.StatusOK,
	}
}
