package boxoffice

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// checks collects the mistakes in a request while it becomes a message.
type checks struct {
	fields []FieldViolation
}

func (c *checks) fail(field, description string) {
	c.fields = append(c.fields, FieldViolation{Field: field, Description: description})
}

func (c *checks) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return invalidFields(c.fields)
}

// oneOf checks that at most one of the fields is given.
func (c *checks) oneOf(names string, given ...bool) {
	count := 0
	for _, each := range given {
		if each {
			count++
		}
	}
	if count > 1 {
		c.fail("", "only one may be given of "+names)
	}
}

// time is absent for the zero time.
func (c *checks) time(field string, value time.Time) *timestamppb.Timestamp {
	if value.IsZero() {
		return nil
	}
	result := timestamppb.New(value)
	if result.CheckValid() != nil {
		c.fail(field, "must be a time between the years 1 and 9999")
	}
	return result
}

// duration is absent for 0.
func (c *checks) duration(field string, value time.Duration) *durationpb.Duration {
	if value == 0 {
		return nil
	}
	return c.durationOf(field, &value)
}

// durationOf is absent for nil.
func (c *checks) durationOf(field string, value *time.Duration) *durationpb.Duration {
	if value == nil {
		return nil
	}
	if *value%time.Millisecond != 0 {
		c.fail(field, "must be whole milliseconds")
	}
	return durationpb.New(*value)
}

// enum is a generated enum.
type enum interface {
	~int32
	protoreflect.Enum
}

// numberOf is the number of a word, which may be empty for none.
func numberOf[E enum, W ~string](c *checks, field string, word W) E {
	if word == "" {
		return 0
	}
	return numberOfSome[E](c, field, word)
}

func numbersOf[E enum, W ~string](c *checks, field string, words []W) []E {
	if words == nil {
		return nil
	}
	numbers := make([]E, len(words))
	for i, word := range words {
		numbers[i] = numberOfSome[E](c, fmt.Sprintf("%s[%d]", field, i), word)
	}
	return numbers
}

// numberOfSome takes a word of the contract, or a number as wordOf returns it for values of later versions.
func numberOfSome[E enum, W ~string](c *checks, field string, word W) E {
	var none E
	values := none.Descriptor().Values()
	words := make([]string, 0, values.Len())
	for i := range values.Len() {
		value := values.Get(i)
		if value.Number() == 0 {
			continue
		}
		name := nameOf(value)
		if name == string(word) {
			return E(value.Number())
		}
		words = append(words, name)
	}
	if number, err := strconv.ParseInt(string(word), 10, 32); err == nil && number > 0 {
		return E(number)
	}
	c.fail(field, "must be one of "+strings.Join(words, ", "))
	return none
}

// wordOf is the word of an enum value: lower-case, without the name of the enum. Values that are newer than
// this library are their numbers in decimal.
func wordOf[W ~string](value protoreflect.Enum) W {
	if value.Number() == 0 {
		return ""
	}
	if known := value.Descriptor().Values().ByNumber(value.Number()); known != nil {
		return W(nameOf(known))
	}
	return W(strconv.Itoa(int(value.Number())))
}

func wordsOf[W ~string, E enum](values []E) []W {
	words := make([]W, len(values))
	for i, value := range values {
		words[i] = wordOf[W](value)
	}
	return words
}

// nameOf drops the prefix that all values of an enum share.
func nameOf(value protoreflect.EnumValueDescriptor) string {
	unspecified := value.Parent().(protoreflect.EnumDescriptor).Values().Get(0).Name()
	prefix := strings.TrimSuffix(string(unspecified), "UNSPECIFIED")
	return strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix))
}

// timeOf is the zero time for an absent one.
func timeOf(value *timestamppb.Timestamp) time.Time {
	if value == nil {
		return time.Time{}
	}
	return value.AsTime()
}

// optionalDuration is nil for an absent one.
func optionalDuration(value *durationpb.Duration) *time.Duration {
	if value == nil {
		return nil
	}
	length := value.AsDuration()
	return &length
}

// each converts the items of a list.
func each[From, To any](items []From, convert func(From) To) []To {
	result := make([]To, len(items))
	for i, item := range items {
		result[i] = convert(item)
	}
	return result
}

// deref converts an item that is present.
func deref[From, To any](convert func(From) *To) func(From) To {
	return func(item From) To {
		var none To
		if converted := convert(item); converted != nil {
			return *converted
		}
		return none
	}
}
