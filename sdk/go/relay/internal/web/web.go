// Package web has what the requests of a relay share.
package web

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfterMax is the longest wait that a server may ask for.
const retryAfterMax = time.Hour

// ErrRedirected is the error of a request whose answer is a redirection, with [Refuse].
var ErrRedirected = errors.New("the answer is a redirection")

// Redirects says what becomes of a redirection.
type Redirects func(*http.Request, []*http.Request) error

// Refuse makes a redirection an error.
func Refuse(*http.Request, []*http.Request) error { return ErrRedirected }

// Return makes a redirection the answer.
func Return(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Client returns a client that follows no redirection: a copy of the given one, or a new one with connections of its
// own. close ends idle connections of a new one.
func Client(given *http.Client, redirects Redirects) (client *http.Client, close func()) {
	if given != nil {
		copied := *given
		copied.CheckRedirect = redirects
		return &copied, func() {}
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
	}
	return &http.Client{Transport: transport, CheckRedirect: redirects}, transport.CloseIdleConnections
}

// ReadUpTo reads a body of at most limit bytes. It reports whether the body is longer, and then returns a part.
func ReadUpTo(body io.Reader, limit int64) (text []byte, isLonger bool, err error) {
	text, err = io.ReadAll(io.LimitReader(body, limit+1))
	return text, int64(len(text)) > limit, err
}

// RetryAfter returns the wait of a Retry-After header, which is a number of seconds or a date; 0 without one.
// Source: RFC 9110, 10.2.3.
func RetryAfter(header string, now time.Time) time.Duration {
	isNumber := header != "" && strings.Trim(header, "0123456789") == ""
	if isNumber {
		seconds, err := strconv.ParseInt(header, 10, 64)
		if err != nil || seconds > int64(retryAfterMax/time.Second) {
			return retryAfterMax
		}
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), retryAfterMax)
}
