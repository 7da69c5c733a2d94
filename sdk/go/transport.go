package boxoffice

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// newTransport is a transport of its own, so that closing it disturbs no one else.
func newTransport(settings *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		MaxIdleConns:          100,
		MaxIdleConnsPerHost:   10,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	if settings != nil {
		transport.TLSClientConfig = settings.Clone()
	}
	return transport
}

// newControlTransport speaks HTTP/2 alone, without TLS for http://, and notices dead connections.
func newControlTransport(settings *tls.Config) *http.Transport {
	transport := newTransport(settings)
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 60 * time.Second, PingTimeout: 15 * time.Second}
	return transport
}

func newHTTPClient(transport *http.Transport, wrap func(http.RoundTripper) http.RoundTripper) *http.Client {
	client := &http.Client{
		Transport: transport,
		// No redirects: the key must only be sent to the given host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if wrap != nil {
		client.Transport = &wrapped{RoundTripper: wrap(transport), inner: transport}
	}
	return client
}

// wrapped closes idle connections of the transport inside, which a wrapper may not pass on.
type wrapped struct {
	http.RoundTripper
	inner *http.Transport
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (w *wrapped) CloseIdleConnections() {
	w.inner.CloseIdleConnections()
}
