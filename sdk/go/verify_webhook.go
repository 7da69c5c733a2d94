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

// webhookAgeMax is how far the clocks of the service and the receiver may be apart.
const webhookAgeMax = 5 * time.Minute

// Why [VerifyWebhook] refuses a request, as in [Error.Reason].
const (
	// ReasonBadSecret: there is no secret, or one is not whsec_ and base64. It is a mistake of the receiver.
	ReasonBadSecret = "BAD_SECRET"
	// ReasonMissingHeader: webhook-id, webhook-timestamp or webhook-signature is missing.
	ReasonMissingHeader = "MISSING_HEADER"
	// ReasonBadTimestamp: webhook-timestamp is no number of seconds.
	ReasonBadTimestamp = "BAD_TIMESTAMP"
	// ReasonStale: the request was sent more than 5 minutes ago, or a clock is wrong.
	ReasonStale = "STALE"
	// ReasonBadSignature: the body, a header or the secret is not that of the service.
	ReasonBadSignature = "BAD_SIGNATURE"
	// ReasonBadBody: the body is signed, but no event.
	ReasonBadBody = "BAD_BODY"
)

// VerifyWebhook checks that the service sent this request to a webhook within the last 5 minutes, and returns the
// event. Body is what arrived, byte for byte. Secrets are those of the webhook: one of them has to match. Give the old
// and the new one during a rotation.
//
// A failure is [ErrInvalid], and its Reason is [ReasonBadSignature] or one of those beside it. Answer it with 401. An
// event may arrive more than once: handle each ID once.
func VerifyWebhook(header http.Header, body []byte, secrets ...string) (*TenantEvent, error) {
	return VerifyWebhookAt(time.Now(), header, body, secrets...)
}

// VerifyWebhookAt is [VerifyWebhook] at another time than now, for tests with requests that were recorded.
func VerifyWebhookAt(now time.Time, header http.Header, body []byte, secrets ...string) (*TenantEvent, error) {
	keys, err := keysOfSecrets(secrets)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if header.Get(name) == "" {
			return nil, notGenuine(ReasonMissingHeader, name, "must be among the headers")
		}
	}
	timestamp := header.Get("webhook-timestamp")
	if err := checkTimestamp(timestamp, now); err != nil {
		return nil, err
	}
	content := fmt.Appendf(nil, "%s.%s.%s", header.Get("webhook-id"), timestamp, body)
	if !isSigned(content, header.Get("webhook-signature"), keys) {
		return nil, notGenuine(ReasonBadSignature, "webhook-signature", "must have a signature v1 of this body by one of the secrets")
	}
	return eventOf(body)
}

func notGenuine(reason, field, description string) error {
	failure := invalid(field, description)
	failure.Reason = reason
	return failure
}

// keysOfSecrets never puts a secret into an error.
func keysOfSecrets(secrets []string) ([][]byte, error) {
	if len(secrets) == 0 {
		return nil, notGenuine(ReasonBadSecret, "secrets", "must be given")
	}
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		encoded, isSecret := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !isSecret || err != nil || len(key) == 0 {
			return nil, notGenuine(ReasonBadSecret, fmt.Sprintf("secrets[%d]", i), "must be whsec_ and base64")
		}
		keys[i] = key
	}
	return keys, nil
}

func checkTimestamp(text string, now time.Time) error {
	seconds, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > 12 {
		return notGenuine(ReasonBadTimestamp, "webhook-timestamp", "must be seconds since 1970")
	}
	if age := now.Sub(time.Unix(int64(seconds), 0)); age > webhookAgeMax || age < -webhookAgeMax {
		return notGenuine(ReasonStale, "webhook-timestamp", "must be at most 5 minutes from now")
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
func eventOf(body []byte) (*TenantEvent, error) {
	var event struct {
		TenantEvent
		// The test event has the number 0, so that only nil means that it is missing.
		Seq *uint64 `json:"seq"`
	}
	err := json.Unmarshal(body, &event)
	if err != nil || event.ID == "" || event.Seq == nil || event.Type == "" || event.Timestamp.IsZero() ||
		!bytes.HasPrefix(event.Data, []byte("{")) {
		return nil, notGenuine(ReasonBadBody, "body", "must be an event as JSON")
	}
	event.TenantEvent.Seq = *event.Seq
	return &event.TenantEvent, nil
}
