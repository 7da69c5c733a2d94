package boxoffice

import (
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

// VerifyWebhook checks that the service sent this request to a webhook within the last 5 minutes, and returns the
// event. Body is what arrived, byte for byte. Secrets are those of the webhook: during a rotation the old and the new
// one, of which one has to match.
//
// The error is [ErrInvalid], and names in Fields what is wrong: a header, the body, or one of the secrets. Answer it
// with 401. An event may arrive more than once: handle each ID once.
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
			return nil, invalid(name, "must be among the headers")
		}
	}
	timestamp := header.Get("webhook-timestamp")
	if err := checkTimestamp(timestamp, now); err != nil {
		return nil, err
	}
	content := fmt.Appendf(nil, "%s.%s.%s", header.Get("webhook-id"), timestamp, body)
	if !isSigned(content, header.Get("webhook-signature"), keys) {
		return nil, invalid("webhook-signature", "must have a signature v1 of this body by one of the secrets")
	}
	event := new(TenantEvent)
	if err := json.Unmarshal(body, event); err != nil {
		return nil, invalid("body", "must be an event as JSON")
	}
	return event, nil
}

// keysOfSecrets never puts a secret into an error.
func keysOfSecrets(secrets []string) ([][]byte, error) {
	if len(secrets) == 0 {
		return nil, invalid("secret", "must be given")
	}
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, invalid("secret", "must be whsec_ and base64")
		}
		keys[i] = key
	}
	return keys, nil
}

func checkTimestamp(text string, now time.Time) error {
	seconds, err := strconv.ParseUint(text, 10, 40)
	if err != nil {
		return invalid("webhook-timestamp", "must be seconds since 1970")
	}
	if age := now.Sub(time.Unix(int64(seconds), 0)); age > webhookAgeMax || age < -webhookAgeMax {
		return invalid("webhook-timestamp", "must be at most 5 minutes from now: the request is too old, or a clock is wrong")
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
