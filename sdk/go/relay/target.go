package relay

import (
	"net/netip"
	"net/url"
	"strings"
)

// defaultPorts has the schemes whose URLs always have a host and a path.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}

// targetOf returns a URL in its normal form, without query and fragment (RFC 9449, 4.2 and 4.3). It reports whether the
// text is an absolute URL with a host. Hosts outside ASCII are compared as they are written.
func targetOf(text string) (target string, ok bool) {
	parsed, err := url.Parse(strings.Trim(text, " "))
	if err != nil || parsed.Scheme == "" || parsed.Hostname() == "" {
		return "", false
	}
	defaultPort, isWeb := defaultPorts[parsed.Scheme]
	host := hostOf(parsed.Hostname())
	if port := parsed.Port(); port != "" && port != defaultPort {
		host += ":" + port
	}
	user := ""
	if parsed.User != nil {
		user = parsed.User.String() + "@"
	}
	path := parsed.EscapedPath()
	if isWeb {
		path = withoutDots(path)
	}
	return parsed.Scheme + "://" + user + host + path, true
}

func hostOf(name string) string {
	if address, err := netip.ParseAddr(name); err == nil && address.Is6() {
		return "[" + address.String() + "]"
	}
	return strings.ToLower(name)
}

// withoutDots resolves the segments "." and ".." of a path, as browsers do. A path is never empty.
func withoutDots(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	var kept []string
	for at, segment := range segments {
		isLast := at == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, segment)
			continue
		}
		if isLast {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}
