package boxoffice

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options are the addresses of the service, the API key, and the limits of calls.
//
// Printing or logging Options never shows the API key.
type Options struct {
	// URL is the address of the REST interface, such as https://boxoffice.example, without user, query and fragment.
	URL string
	// ControlURL is the address of the control plane, such as https://control.example:443. With http://,
	// HTTP/2 is spoken without TLS. It may be left out if only REST is used.
	ControlURL string
	// APIKey is a backend key, or a relay key for Usage.Report and Usage.LookUp alone. It may be left out for
	// SignUp and Rates.Get.
	APIKey Secret
	// Tenant is the id of the key's tenant. If it is empty, the client looks it up once, which fails for a
	// suspended tenant.
	Tenant string
	// Timeout limits a call with all its attempts. 0 is 30 s.
	Timeout time.Duration
	// AttemptTimeout limits each attempt. 0 is 10 s.
	AttemptTimeout time.Duration
	// Retries is how many attempts may follow the first, if a call may be repeated. Nil is 4.
	Retries *int
	// TLS replaces the TLS settings of both interfaces, for example to trust other certificate authorities.
	TLS *tls.Config
	// WrapTransport wraps the HTTP transports of both interfaces, for example for tracing. Requests that pass
	// through it carry the API key.
	WrapTransport func(http.RoundTripper) http.RoundTripper
	// Logger gets a record of each retry and each reopened stream. Nil logs nothing.
	Logger *slog.Logger
}

// Ptr returns a pointer to a copy of value, for optional fields.
func Ptr[T any](value T) *T {
	return &value
}

// String shows the options without the API key.
func (o Options) String() string {
	return fmt.Sprintf("boxoffice.Options{URL: %q, ControlURL: %q, APIKey: %q, Tenant: %q}",
		o.URL, o.ControlURL, o.APIKey, o.Tenant)
}

// GoString shows the options without the API key.
func (o Options) GoString() string {
	return o.String()
}

// Format shows the options without the API key, whatever the verb is.
func (o Options) Format(state fmt.State, _ rune) {
	_, _ = state.Write([]byte(o.String()))
}

// LogValue shows the options without the API key.
func (o Options) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("url", o.URL),
		slog.String("control_url", o.ControlURL),
		slog.Any("api_key", o.APIKey),
		slog.String("tenant", o.Tenant),
	)
}

// MarshalJSON shows the options without the API key.
func (o Options) MarshalJSON() ([]byte, error) {
	return []byte(fmt.Sprintf(`{"url":%q,"control_url":%q,"tenant":%q}`, o.URL, o.ControlURL, o.Tenant)), nil
}

func (o Options) check() error {
	if err := checkURL("URL", o.URL, true); err != nil {
		return err
	}
	if err := checkURL("ControlURL", o.ControlURL, false); err != nil {
		return err
	}
	for _, each := range []byte(o.APIKey.Reveal()) {
		// Other keys would be refused further down with a message that contains the key.
		if each < 0x21 || each > 0x7e {
			return invalid("APIKey", "must be printable ASCII characters")
		}
	}
	if o.Timeout < 0 || o.AttemptTimeout < 0 {
		return invalid("Timeout", "must not be negative")
	}
	if o.Retries != nil && *o.Retries < 0 {
		return invalid("Retries", "must not be negative")
	}
	return nil
}

func checkURL(name, value string, isRequired bool) error {
	if value == "" && !isRequired {
		return nil
	}
	parsed, err := url.Parse(value)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return invalid(name, "must begin with http:// or https://")
	}
	// Paths are appended to it.
	if parsed.User != nil || parsed.RawQuery != "" || parsed.ForceQuery || strings.Contains(value, "#") {
		return invalid(name, "must have no user, query or fragment")
	}
	return nil
}

// limits are the client's defaults for all calls.
type limits struct {
	timeout        time.Duration
	attemptTimeout time.Duration
	retries        int
}

func (o Options) limits() limits {
	result := limits{timeout: 30 * time.Second, attemptTimeout: 10 * time.Second, retries: 4}
	if o.Timeout > 0 {
		result.timeout = o.Timeout
	}
	if o.AttemptTimeout > 0 {
		result.attemptTimeout = o.AttemptTimeout
	}
	if o.Retries != nil {
		result.retries = *o.Retries
	}
	return result
}
