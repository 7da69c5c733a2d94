// Package plainjson reads JSON by the rules of JavaScript's JSON.parse, so that all SDKs accept the same texts.
//
// Unlike encoding/json, it takes no bytes that are not UTF-8. Of a member that is given twice, the last counts.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// WholeMax is the largest integer that a number of JavaScript holds exactly: 2^53 - 1.
const WholeMax = 1<<53 - 1

// Parse returns the value of one JSON text, with numbers as [json.Number]. It reports whether there is one.
func Parse(text []byte) (value any, ok bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false
	}
	return value, true
}

// Object returns the members of one JSON text, if that is an object.
func Object(text []byte) (members map[string]any, ok bool) {
	value, _ := Parse(text)
	members, ok = value.(map[string]any)
	return members, ok
}

// Integer returns a value that is a number without a fraction, within ±(2^53 - 1), however it is spelled: 60, 60.0, 6e1.
func Integer(value any) (integer int64, ok bool) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	float, err := strconv.ParseFloat(string(number), 64)
	if err != nil || float != math.Trunc(float) || math.Abs(float) > WholeMax {
		return 0, false
	}
	return int64(float), true
}

// Whole is [Integer] without negative numbers.
func Whole(value any) (whole int64, ok bool) {
	whole, ok = Integer(value)
	return whole, ok && whole >= 0
}

// HasExactly reports whether an object has these members and no others.
func HasExactly(object map[string]any, members ...string) bool {
	for _, member := range members {
		if _, ok := object[member]; !ok {
			return false
		}
	}
	return len(object) == len(members)
}
