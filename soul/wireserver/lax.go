package wireserver

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// laxBool is a boolean that may also come as 0 or 1, or as a word for it.
type laxBool bool

// UnmarshalJSON reads a boolean as laxly as kimi-cli does.
func (b *laxBool) UnmarshalJSON(data []byte) error {
	word := string(data)
	if s := ""; json.Unmarshal(data, &s) == nil && data[0] == '"' {
		word = strings.ToLower(s)
	}
	switch word {
	case "true", "1", "1.0", "yes", "on", "t", "y":
		*b = true
	case "false", "0", "0.0", "no", "off", "f", "n":
		*b = false
	default:
		return errors.New("not a boolean")
	}
	return nil
}

// laxInt is an integer that may also come as a float without a fraction, or as text.
type laxInt int

// UnmarshalJSON reads an integer as laxly as kimi-cli does.
func (i *laxInt) UnmarshalJSON(data []byte) error {
	word := string(data)
	if s := ""; json.Unmarshal(data, &s) == nil && data[0] == '"' {
		word = strings.TrimSpace(s)
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return errors.New("not an integer")
	}
	*i = laxInt(f)
	return nil
}
