package wire

// appendSpaced appends compact JSON with ", " between members and ": " after keys,
// the form of wire.jsonl. Strings are left as they are.
func appendSpaced(dst, compact []byte) []byte {
	inString := false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		dst = append(dst, c)
		switch {
		case inString && c == '\\': // whatever is escaped does not end the string
			i++
			dst = append(dst, compact[i])
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			dst = append(dst, ' ')
		}
	}
	return dst
}
