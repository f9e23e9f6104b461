package fileop_test

import (
	"errors"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

// TestPatch patches one file. A patch is what stands below @@ lines of either form.
func TestPatch(t *testing.T) {
	const two = "func a() {\n\tx\n\treturn\n}\n\nfunc b() {\n\tx\n\treturn\n}\n"
	tests := []struct {
		name, file, patch, want string
		err                     error
		says                    string
	}{
		{name: "plain", file: "a\nb\nc\n", patch: "@@\n a\n-b\n+B\n c\n", want: "a\nB\nc\n"},
		{name: "wrong numbers", file: "a\nb\nc\n", patch: "@@ -90,3 +12,7 @@\n a\n-b\n+B\n c\n", want: "a\nB\nc\n"},
		{name: "right number among equals", file: "x\na\nx\na\n", patch: "@@ -3 +3 @@\n-x\n+y\n", want: "x\na\ny\na\n"},
		{name: "wrong number among equals", file: "x\na\nx\na\n", patch: "@@ -4 +4 @@\n-x\n+y\n", err: fileop.ErrAmbiguous, says: "part 1 of 1: its lines occur 2 times, at lines 1, 3."},
		{name: "below a line", file: two, patch: "@@ func b() {\n-\tx\n+\ty\n", want: strings.Replace(two, "b() {\n\tx", "b() {\n\ty", 1)},
		{name: "below two lines", file: two, patch: "@@ func b() {\n@@ x\n-\treturn\n+\tpanic()\n", want: two[:strings.LastIndex(two, "\treturn")] + "\tpanic()\n}\n"},
		{name: "below a line that is not there", file: two, patch: "@@ func c() {\n-\tx\n+\ty\n", err: fileop.ErrNoMatch, says: `"func c() {"`},
		{name: "heading chooses", file: two, patch: "@@ -70 +70 @@ func b()\n-\tx\n+\ty\n", want: strings.Replace(two, "b() {\n\tx", "b() {\n\ty", 1)},
		{name: "heading stands above both", file: "h\nx\na\nx\n", patch: "@@ -70 +70 @@ h\n-x\n+y\n", want: "h\ny\na\nx\n"},
		{name: "next one below", file: "x\na\nx\n", patch: "@@\n x\n-a\n+b\n@@\n-x\n+y\n", want: "x\nb\ny\n"},
		{name: "out of order", file: "a\nb\nc\n", patch: "@@\n-c\n+C\n@@\n-a\n+A\n", want: "A\nb\nC\n"},
		{name: "overlapping", file: "a\nb\nc\n", patch: "@@\n a\n-b\n@@\n-b\n c\n", err: fileop.ErrBadEdit, says: "line 2"},
		{name: "at the end", file: "x\na\nx\n", patch: "@@\n-x\n+y\n*** End of File\n", want: "x\na\ny\n"},
		{name: "appended", file: "a\n", patch: "@@\n+b\n*** End of File\n", want: "a\nb\n"},
		{name: "appended to a line without end", file: "a", patch: "@@\n+b\n*** End of File\n", want: "a\nb"},
		{name: "inserted below a line", file: "a\nb\n", patch: "@@ a\n+x\n", want: "a\nx\nb\n"},
		{name: "nowhere", file: "a\n", patch: "@@\n+x\n", err: fileop.ErrBadEdit, says: "not known where"},
		{name: "into an empty file", file: "", patch: "@@ -0,0 +1 @@\n+x\n", want: "x\n"},
		{name: "no end stays", file: "a\nb", patch: "@@\n-b\n+c\n", want: "a\nc"},
		{name: "end is added", file: "a\nb", patch: "@@\n-b\n\\ No newline at end of file\n+c\n", want: "a\nc\n"},
		{name: "end is taken", file: "a\nb\n", patch: "@@\n-b\n+c\n\\ No newline at end of file\n", want: "a\nc"},
		{name: "everything goes", file: "a\nb\n", patch: "@@\n-a\n-b\n", want: ""},
		{name: "CRLF", file: "a\r\nb\r\nc\r\n", patch: "@@\n a\n-b\n+B\n+C\n c\n", want: "a\r\nB\r\nC\r\nc\r\n"},
		{name: "mixed", file: "a\r\nb\nc\r\n", patch: "@@\n-b\n+B\n c\n", want: "a\r\nB\nc\r\n"},
		{name: "byte order mark", file: "\ufeffa\nb\n", patch: "@@\n-a\n+A\n", want: "\ufeffA\nb\n"},
		{name: "UTF-16", file: "\xff\xfea\x00\n\x00b\x00\n\x00", patch: "@@\n-b\n+é\n", want: "\xff\xfea\x00\n\x00\xe9\x00\n\x00"},
		{name: "blank in front is not forgiven", file: "\ta\n", patch: "@@\n-    a\n+b\n", err: fileop.ErrNoMatch, says: "Closest:\nline 1: \ta"},
		{name: "NUL", file: "a\n", patch: "@@\n-a\n+b\x00\n", err: fileop.ErrBinary, says: "part 1 of 1"},
		{name: "nothing changes", file: "a\nb\n", patch: "@@\n-a\n+a\n", err: fileop.ErrNoChange},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, way{})
			d.save(test.file)
			edits, err := fileop.ParsePatch("*** Update File: " + d.path + "\n" + test.patch)
			if err != nil {
				t.Fatal(err)
			}
			c, err := d.op.Plan(t.Context(), edits[0])
			if test.err != nil {
				if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v, want %v saying %q", err, test.err, test.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			d.commit(c)
			d.wantDisk(test.want)
		})
	}
}
