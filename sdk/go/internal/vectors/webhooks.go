package vectors

import (
	"errors"
	"net/http"
	"time"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

// webhookFile is webhooks.json.
type webhookFile struct {
	Now     int64           `json:"now"`
	Vectors []webhookVector `json:"vectors"`
}

type webhookVector struct {
	Name    string            `json:"name"`
	Secrets []string          `json:"secrets"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Code    string            `json:"code"`
}

// WebhookResult is the code of a refusal, or the event.
type WebhookResult struct {
	Code  string                  `json:"code,omitzero"`
	Event *boxoffice.WebhookEvent `json:"event,omitzero"`
}

// Webhooks returns what becomes of each request of webhooks.json, by its name: a map of [WebhookResult].
func Webhooks(path string) (any, error) {
	var file webhookFile
	if err := readFile(path, &file); err != nil {
		return nil, err
	}
	results := make(map[string]WebhookResult, len(file.Vectors))
	for _, each := range file.Vectors {
		header := http.Header{}
		for name, value := range each.Headers {
			header.Set(name, value)
		}
		event, err := boxoffice.VerifyWebhookAt(time.Unix(file.Now, 0), header, []byte(each.Body), each.Secrets...)
		result := WebhookResult{Event: event}
		var refusal boxoffice.WebhookRefusal
		switch {
		case errors.As(err, &refusal):
			result.Code = string(refusal)
		case errors.Is(err, boxoffice.ErrInvalid):
			result.Code = "BAD_SECRET"
		case err != nil:
			return nil, err
		}
		results[each.Name] = result
	}
	return results, nil
}
