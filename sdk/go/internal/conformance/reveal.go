package main

import (
	"bytes"
	"encoding/json"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

// revealed is an answer with its secret, which the JSON of the SDK masks.
func revealed(answer any) (any, error) {
	switch given := answer.(type) {
	case *boxoffice.SignedUp:
		return withSecret(given, "api_key", given.APIKey)
	case *boxoffice.CreatedKey:
		return withSecret(given, "api_key", given.APIKey)
	case *boxoffice.RotatedKey:
		return withSecret(given, "api_key", given.APIKey)
	case *boxoffice.CreatedWebhook:
		return withSecret(given, "secret", given.Secret)
	case *boxoffice.RotatedWebhookSecret:
		return withSecret(given, "secret", given.Secret)
	case *boxoffice.CreatedCredential:
		return withSecret(given, "credential", given.Credential)
	case *boxoffice.RotatedCredential:
		return withSecret(given, "credential", given.Credential)
	case *boxoffice.MintedToken:
		return withSecret(given, "token", given.Token)
	}
	return answer, nil
}

func withSecret(answer any, name string, secret boxoffice.Secret) (any, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	fields[name] = secret.Reveal()
	return fields, nil
}
