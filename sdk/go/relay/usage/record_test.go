package usage

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

func TestCheckRefusesWhatTheServiceWouldRefuse(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"a role it does not know":             func(r *Record) { r.Role = "guest" },
		"no role":                             func(r *Record) { r.Role = "" },
		"a tier it does not know":             func(r *Record) { r.Tier = "4k" },
		"negative seconds":                    func(r *Record) { r.Seconds = -1 },
		"more than a hundred days":            func(r *Record) { r.Seconds = 8_640_001 },
		"negative bytes":                      func(r *Record) { r.EgressBytes = -1 },
		"bytes beyond what the service reads": func(r *Record) { r.IngressBytes = 1 << 53 },
		"a session with a dot":                func(r *Record) { r.SessionID = "a.b" },
		"a long session":                      func(r *Record) { r.SessionID = strings.Repeat("a", 65) },
		"text that is no UTF-8":               func(r *Record) { r.Room = "\xff" },
		"a NUL character":                     func(r *Record) { r.Participant = "a\x00b" },
		"a room of 201 characters":            func(r *Record) { r.Room = strings.Repeat("r", 201) },
		"a participant of 201 characters":     func(r *Record) { r.Participant = strings.Repeat("😀", 201) },
	} {
		t.Run(name, func(t *testing.T) {
			usage := usageOf(change)
			wantError(t, usage.check(), InvalidUsage)
		})
	}
}

func TestCheckAcceptsTheLimits(t *testing.T) {
	for _, usage := range []Record{
		usageOf(func(r *Record) { r.Room, r.Participant = strings.Repeat("😀", 200), strings.Repeat("p", 200) }),
		usageOf(func(r *Record) { r.Seconds, r.EgressBytes, r.IngressBytes = 0, 0, 0 }),
		usageOf(func(r *Record) { r.Seconds, r.EgressBytes = 8_640_000, plainjson.WholeMax }),
	} {
		if err := usage.check(); err != nil {
			t.Error(err)
		}
	}
}

func TestSplitByDayLosesNoByte(t *testing.T) {
	day := usageOf(func(r *Record) { r.Seconds = 86_400 })
	wantEqual(t, day.splitByDay(), []Record{day})

	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		usage := usageOf()
		usage.Seconds = 86_401 + random.Int64N(8_640_000-86_400)
		usage.EgressBytes, usage.IngressBytes = random.Int64N(1<<53), random.Int64N(1<<53)
		parts := usage.splitByDay()
		var seconds, egress, ingress int64
		for _, part := range parts {
			if part.Seconds > 86_400 || part.EgressBytes < 0 || part.IngressBytes < 0 {
				t.Errorf("a part is %+v", part)
			}
			seconds, egress, ingress = seconds+part.Seconds, egress+part.EgressBytes, ingress+part.IngressBytes
		}
		wantEqual(t, []int64{seconds, egress, ingress}, []int64{usage.Seconds, usage.EgressBytes, usage.IngressBytes})
		wantEqual(t, len(parts), int((usage.Seconds+86_399)/86_400))
		share := new(big.Int).Mul(big.NewInt(usage.EgressBytes), big.NewInt(86_400))
		wantEqual(t, parts[0].EgressBytes, share.Div(share, big.NewInt(usage.Seconds)).Int64())
	}
}

func TestRender(t *testing.T) {
	usage := usageOf(func(r *Record) { r.Room = "<main> & 🎭" })
	line, err := usage.render("r.b.0.1")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"r.b.0.1","room":"<main> & 🎭","role":"host","tier":"hd","seconds":60,` +
		`"egress_bytes":50000000,"ingress_bytes":1000000}`
	wantEqual(t, line, want)
	if !json.Valid([]byte(line)) {
		t.Error("not JSON")
	}
	long := usageOf(func(r *Record) { r.Tenant = strings.Repeat("x", 65_536) })
	_, err = long.render("a")
	wantError(t, err, InvalidUsage)
}

func TestTierOf(t *testing.T) {
	for pixels, want := range map[int]Tier{
		0: Audio, 1: HD, 1280 * 720: HD, 1280*720 + 1: FullHD, 1920 * 1080: FullHD, 1920*1080 + 1: TwoK,
		2560 * 1440: TwoK, 2560*1440 + 1: TwoKOrMore,
	} {
		if got := TierOf(pixels); got != want {
			t.Errorf("%d pixels are %s", pixels, got)
		}
	}
}

func TestSplitBatches(t *testing.T) {
	lines := []string{"aaaa", "bbbb", "cccc", "dddd", strings.Repeat("e", 100), "f"}
	wantEqual(t, splitBatches(lines, batchLimits{3, 1000}), [][]string{lines[:3], lines[3:]})
	wantEqual(t, splitBatches(lines, batchLimits{10, envelopeBytes + 10}),
		[][]string{lines[:2], lines[2:4], lines[4:5], lines[5:]})
	wantEqual(t, splitBatches(nil, batchLimits{3, 1000}), [][]string(nil))
	wantEqual(t, renderBatch([]string{"{}", "{}"}), `{"records":[{},{}]}`)
	wantEqual(t, renderBatch(nil), `{"records":[]}`)
}
