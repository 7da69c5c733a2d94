package boxoffice

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// webhookSecondsMax is how far the clocks of the service and the receiver may be apart.
	webhookSecondsMax = 300
	// timestampDigitsMax are enough for some 30,000 years.
	timestampDigitsMax = 12
)

// WebhookRefusal says why a request is no genuine webhook: find it with [errors.As], or compare with [errors.Is].
type WebhookRefusal string

// Why [VerifyWebhook] refuses a request.
const (
	WebhookMissingHeader WebhookRefusal = "MISSING_HEADER"
	WebhookBadTimestamp  WebhookRefusal = "BAD_TIMESTAMP"
	WebhookStale         WebhookRefusal = "STALE"
	WebhookBadSignature  WebhookRefusal = "BAD_SIGNATURE"
	WebhookBadBody       WebhookRefusal = "BAD_BODY"
)

var webhookRefusals = map[WebhookRefusal]string{
	WebhookMissingHeader: "webhook-id, webhook-timestamp and webhook-signature must be given, each once",
	WebhookBadTimestamp:  "webhook-timestamp must be whole seconds since 1970",
	WebhookStale:         "webhook-timestamp is more than 5 minutes from now",
	WebhookBadSignature:  "no v1 signature is that of a secret",
	WebhookBadBody:       "the body is signed, but is no event; VerifyWebhookEvents reads a list of events",
}

// Error is the code with what it means.
func (r WebhookRefusal) Error() string {
	return fmt.Sprintf("boxoffice: %s (%s)", webhookRefusals[r], string(r))
}

// VerifyWebhook checks that the service sent this request to a webhook within the last 5 minutes, and returns the
// event. Body is what arrived, byte for byte. Secrets are those of the webhook: one of them has to match. Give the old
// and the new one during a rotation.
//
// The error is a [WebhookRefusal] if the request is not genuine or too old: answer it with 401. It is [ErrInvalid] if a
// secret is none. An event may arrive more than once: handle each ID once.
func VerifyWebhook(header http.Header, body []byte, secrets ...string) (*WebhookEvent, error) {
	return VerifyWebhookAt(time.Now(), header, body, secrets...)
}

// VerifyWebhookAt is [VerifyWebhook] at another time than now, for tests with requests that were recorded.
func VerifyWebhookAt(now time.Time, header http.Header, body []byte, secrets ...string) (*WebhookEvent, error) {
	if err := verifySignatureAt(now, header, body, secrets); err != nil {
		return nil, err
	}
	return eventOf(body)
}

// VerifyWebhookEvents is [VerifyWebhook] for a webhook that gets several events in a request (MaxBatch): all of them, in
// order. A body that is one event is one, too. Answer 2xx once all are stored: after another answer they come again.
func VerifyWebhookEvents(header http.Header, body []byte, secrets ...string) ([]*WebhookEvent, error) {
	return VerifyWebhookEventsAt(time.Now(), header, body, secrets...)
}

// VerifyWebhookEventsAt is [VerifyWebhookEvents] at another time than now, for tests with requests that were recorded.
func VerifyWebhookEventsAt(now time.Time, header http.Header, body []byte, secrets ...string) ([]*WebhookEvent, error) {
	if err := verifySignatureAt(now, header, body, secrets); err != nil {
		return nil, err
	}
	return eventsOf(body)
}

// VerifyWebhookSignature is [VerifyWebhook] without reading the body: for CloudEvents, which have libraries of their own.
func VerifyWebhookSignature(header http.Header, body []byte, secrets ...string) error {
	return verifySignatureAt(time.Now(), header, body, secrets)
}

func verifySignatureAt(now time.Time, header http.Header, body []byte, secrets []string) error {
	keys, err := keysOfSecrets(secrets)
	if err != nil {
		return err
	}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if len(header.Values(name)) != 1 || header.Get(name) == "" {
			return WebhookMissingHeader
		}
	}
	timestamp := header.Get("webhook-timestamp")
	if err := checkTimestamp(timestamp, now); err != nil {
		return err
	}
	content := fmt.Appendf(nil, "%s.%s.%s", header.Get("webhook-id"), timestamp, body)
	if !isSigned(content, header.Get("webhook-signature"), keys) {
		return WebhookBadSignature
	}
	return nil
}

// keysOfSecrets never puts a secret into an error.
func keysOfSecrets(secrets []string) ([][]byte, error) {
	if len(secrets) == 0 {
		return nil, invalid("secrets", "must be given")
	}
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		encoded, isSecret := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !isSecret || err != nil || len(key) == 0 {
			return nil, invalid(fmt.Sprintf("secrets[%d]", i), "must be whsec_ and base64")
		}
		keys[i] = key
	}
	return keys, nil
}

func checkTimestamp(text string, now time.Time) error {
	seconds, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > timestampDigitsMax {
		return WebhookBadTimestamp
	}
	if age := now.Unix() - int64(seconds); age > webhookSecondsMax || age < -webhookSecondsMax {
		return WebhookStale
	}
	return nil
}

// isSigned compares in constant time.
func isSigned(content []byte, signatures string, keys [][]byte) bool {
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write(content)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, each := range strings.Split(signatures, " ") {
			if hmac.Equal([]byte(each), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

// eventOf reads an event that is complete. Members that are not known are ignored.
func eventOf(body []byte) (*WebhookEvent, error) {
	var event struct {
		WebhookEvent
		// The test event has the number 0, so that only nil means that it is missing.
		Seq *uint64 `json:"seq"`
	}
	err := json.Unmarshal(body, &event)
	if err != nil || event.ID == "" || event.Seq == nil || event.Type == "" || event.Timestamp.IsZero() ||
		!bytes.HasPrefix(event.Data, []byte("{")) {
		return nil, WebhookBadBody
	}
	event.WebhookEvent.Seq = *event.Seq
	return &event.WebhookEvent, nil
}

// eventsOf reads one event, or a list of them.
func eventsOf(body []byte) ([]*WebhookEvent, error) {
	var list struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, WebhookBadBody
	}
	if list.Events == nil {
		list.Events = []json.RawMessage{body}
	}
	if len(list.Events) == 0 {
		return nil, WebhookBadBody
	}
	events := make([]*WebhookEvent, len(list.Events))
	for i, each := range list.Events {
		event, err := eventOf(each)
		if err != nil {
			return nil, err
		}
		events[i] = event
	}
	return events, nil
}
