package boxoffice

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// seconds is a duration as JSON has it: a number of seconds.
type seconds time.Duration

// MarshalJSON is part of [json.Marshaler].
func (s seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Seconds())
}

// UnmarshalJSON is part of [json.Unmarshaler].
func (s *seconds) UnmarshalJSON(text []byte) error {
	var number float64
	if err := json.Unmarshal(text, &number); err != nil {
		return err
	}
	nanoseconds := math.Round(number * float64(time.Second))
	if math.Abs(nanoseconds) >= math.MaxInt64 {
		return fmt.Errorf("%s seconds are too many", text)
	}
	*s = seconds(nanoseconds)
	return nil
}
