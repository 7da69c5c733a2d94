package relay

import "testing"

func TestTargetsThatAreTheSame(t *testing.T) {
	for _, each := range []struct{ one, other string }{
		{"https://relay.example/connect", "https://relay.example/connect?room=lobby#x"},
		{"https://relay.example/connect", "https://relay.example:443/connect"},
		{"https://relay.example/connect", "HTTPS://RELAY.example/connect"},
		{"https://relay.example/connect", " https://relay.example/connect "},
		{"https://relay.example/connect", "https://relay.example/a/../connect"},
		{"https://relay.example/connect", "https://relay.example/./%2e/connect"},
		{"https://relay.example/a/", "https://relay.example/a/b/.."},
		{"https://relay.example/", "https://relay.example"},
		{"wss://relay.example/", "wss://relay.example:443"},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080"},
		{"https://[2001:db8::1]/", "https://[2001:0DB8:0::1]/"},
		{"moqt://relay.example:4443/x", "moqt://relay.example:4443/x?y"},
	} {
		one, isOne := targetOf(each.one)
		other, isOther := targetOf(each.other)
		if !isOne || !isOther || one != other {
			t.Errorf("%s is %s, %s is %s", each.one, one, each.other, other)
		}
	}
}

func TestTargetsThatDiffer(t *testing.T) {
	base, _ := targetOf("https://relay.example/connect")
	for _, text := range []string{
		"https://relay.example/Connect", "https://relay.example/connect/", "https://relay.example//connect",
		"https://relay.example:80/connect", "wss://relay.example/connect", "https://ann@relay.example/connect",
		"https://relay.example./connect", "https://relay.example/%63onnect%2f", "https://relay.example.thief/connect",
	} {
		if target, _ := targetOf(text); target == base {
			t.Errorf("%s is %s", text, target)
		}
	}
	for _, text := range []string{"", "/connect", "relay.example/connect", "https:///connect", "https://", "https:connect", "https://a b/", "\x00"} {
		if target, ok := targetOf(text); ok {
			t.Errorf("%q is %s", text, target)
		}
	}
}
