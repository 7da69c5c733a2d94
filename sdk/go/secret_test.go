package boxoffice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
)

// withSecrets is every answer and request that has a secret.
func withSecrets() []any {
	hidden := NewSecret(testSecret)
	key := CreatedKey{APIKey: hidden}
	webhook := CreatedWebhook{Secret: hidden}
	credential := CreatedCredential{Credential: hidden}
	header, auth := WebhookHeader{"x-key", hidden}, BasicAuth{"ann", hidden}
	return []any{
		hidden, key, webhook, credential, header, auth,
		SignedUp{APIKey: hidden}, RotatedKey{CreatedKey: key}, RotatedWebhookSecret{CreatedWebhook: webhook},
		RotatedCredential{CreatedCredential: credential}, MintedToken{Token: hidden},
		CreateWebhook{Headers: []WebhookHeader{header}, BasicAuth: auth},
		ChangeWebhook{Headers: []WebhookHeader{header}, BasicAuth: &auth},
		Options{APIKey: hidden},
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	for _, value := range withSecrets() {
		t.Run(fmt.Sprintf("%T", value), func(t *testing.T) {
			pointer := reflect.New(reflect.TypeOf(value))
			pointer.Elem().Set(reflect.ValueOf(value))
			// In a field that printing reads without methods, too.
			inside := struct{ unexported any }{value}
			var out bytes.Buffer
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
				for _, each := range []any{value, pointer.Interface(), []any{value}, inside} {
					fmt.Fprintf(&out, verb+"\n", each)
				}
			}
			slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "value", value, "pointer", pointer.Interface())
			slog.New(slog.NewTextHandler(&out, nil)).Info("x", "value", value, "pointer", pointer.Interface())
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(text)
			for _, shown := range []string{testSecret, fmt.Sprintf("%x", testSecret), fmt.Sprintf("%d", []byte(testSecret))} {
				if strings.Contains(out.String(), shown) {
					t.Errorf("the secret is in:\n%s", out.String())
				}
			}
			if !strings.Contains(out.String(), secretMask) {
				t.Errorf("no mask is in:\n%s", out.String())
			}
		})
	}
}

// TestSecretsInTypes finds texts that have the name of a secret, but are none.
func TestSecretsInTypes(t *testing.T) {
	for _, value := range withSecrets() {
		kind := reflect.TypeOf(value)
		for i := range kind.NumField() {
			field := kind.Field(i)
			switch field.Name {
			case "APIKey", "Token", "Secret", "Credential", "Password":
				if field.Type != reflect.TypeFor[Secret]() {
					t.Errorf("%s.%s is %s", kind, field.Name, field.Type)
				}
			}
		}
	}
}

func TestSecret(t *testing.T) {
	secret := NewSecret(testSecret)
	if secret.Reveal() != testSecret || secret.IsZero() || secret != NewSecret(testSecret) || secret == NewSecret("x") {
		t.Error("a secret is not its text")
	}
	var none Secret
	if none.Reveal() != "" || !none.IsZero() || none != NewSecret("") || fmt.Sprint(none) != "" {
		t.Errorf("no secret is %q", none)
	}
	if text := fmt.Sprintf("%v %q %#v %x", secret, secret, secret, secret); text != `[hidden] "[hidden]" "[hidden]" [hidden]` {
		t.Errorf("printed as %s", text)
	}
	var read struct{ Token Secret }
	if err := json.Unmarshal([]byte(`{"Token":"`+testSecret+`"}`), &read); err != nil || read.Token != secret {
		t.Errorf("read %q, error %v", read.Token.Reveal(), err)
	}
	written, err := json.Marshal(read)
	if err != nil || string(written) != `{"Token":"[hidden]"}` {
		t.Errorf("written %s, error %v", written, err)
	}
	// What was written without its secret is not read as if it had one.
	if err := json.Unmarshal(written, &read); err == nil {
		t.Error("the mask was read")
	}
	for _, text := range []string{"5", "{}", "[]", "true"} {
		if err := json.Unmarshal([]byte(text), new(Secret)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
