package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

func painted(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(255 * x / w), G: uint8(255 * y / h), B: 80, A: 255})
		}
	}
	return img
}

func pngOf(t testing.TB, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jpegOf(t testing.TB, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gifOf(t testing.TB, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func webpOf(kind string, body ...byte) string {
	return "RIFF\x00\x00\x00\x00WEBP" + kind + "\x0a\x00\x00\x00" + string(body) + strings.Repeat("\x00", 10)
}

func bmpOf(header uint32, width, height int32) string {
	b := []byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00")
	b = binary.LittleEndian.AppendUint32(b, header)
	if header == 12 {
		b = binary.LittleEndian.AppendUint16(b, uint16(width))
		return string(binary.LittleEndian.AppendUint16(b, uint16(height))) + "\x01\x00\x18\x00"
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(width))
	return string(binary.LittleEndian.AppendUint32(b, uint32(height))) + "\x01\x00\x18\x00"
}

// bomb is a PNG whose head tells of very many pixels.
func bomb(t testing.TB) string {
	head := []byte(pngOf(t, painted(1, 1)))
	binary.BigEndian.PutUint32(head[16:], 60_000)
	binary.BigEndian.PutUint32(head[20:], 60_000)
	// The checksum of the head has to be right, or the size is not even read.
	binary.BigEndian.PutUint32(head[29:], crcOf(head[12:29]))
	return string(head)
}

func crcOf(data []byte) uint32 {
	crc := ^uint32(0)
	for _, b := range data {
		crc ^= uint32(b)
		for range 8 {
			crc = crc>>1 ^ 0xedb88320*(crc&1)
		}
	}
	return ^crc
}

func TestReadMediaFile(t *testing.T) {
	p := newPlace(t, map[string]string{
		"a.png":      pngOf(t, painted(30, 20)),
		"a.jpg":      jpegOf(t, painted(30, 20)),
		"a.gif":      gifOf(t, painted(30, 20)),
		"wrong.txt":  pngOf(t, painted(3, 2)),
		"lossy":      webpOf("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 30, 0, 20, 0),
		"lossless":   webpOf("VP8L", 0x2f, 29, 0xc0, 4, 0),
		"extended":   webpOf("VP8X", 0, 0, 0, 0, 29, 0, 0, 19, 0, 0),
		"odd.webp":   webpOf("VP9 "),
		"huge.webp":  webpOf("VP8X", 0, 0, 0, 0, 0, 0x40, 0, 19, 0, 0),
		"a.bmp":      bmpOf(40, 30, -20),
		"old.bmp":    bmpOf(12, 30, 20),
		"wide.png":   pngOf(t, painted(4096, 100)),
		"tall.jpg":   jpegOf(t, painted(10, 3000)),
		"bomb.png":   bomb(t),
		"broken.png": pngOf(t, painted(30, 20))[:20],
		"cut.png":    pngOf(t, painted(3000, 20))[:200],
		"text":       "<svg/>",
		"data":       "\x00\x01\x02",
		"empty":      "",
		"dir/f":      "",
		"large.png":  "\x89PNG\r\n\x1a\n" + strings.Repeat("x", maxMediaFile),
	}, func(o *Options) { o.Images, o.Asker = true, rejectAll{} })
	for _, test := range []struct {
		path, mime    string
		width, height int // of what the model gets; 0: not decoded here
		text          string
	}{
		{"a.png", "image/png", 30, 20, "image/png, 30×20 pixels"},
		{"a.jpg", "image/jpeg", 30, 20, "image/jpeg, 30×20 pixels"},
		{"a.gif", "image/gif", 30, 20, "image/gif, 30×20 pixels"},
		{"wrong.txt", "image/png", 3, 2, "image/png, 3×2 pixels"},
		{"lossy", "image/webp", 0, 0, "30×20 pixels"},
		{"lossless", "image/webp", 0, 0, "30×20 pixels"},
		{"extended", "image/webp", 0, 0, "30×20 pixels"},
		{"a.bmp", "image/bmp", 0, 0, "30×20 pixels"},
		{"old.bmp", "image/bmp", 0, 0, "30×20 pixels"},
		{"wide.png", "image/png", 2048, 50, "4096×100 pixels"},
		{"tall.jpg", "image/jpeg", 6, 2048, "10×3000 pixels"},
	} {
		t.Run(test.path, func(t *testing.T) {
			v := p.ok("ReadMediaFile", fmt.Sprintf(`{"path":%q}`, test.path))
			parts := v.Output.Parts
			if len(parts) != 2 || parts[0].Type != llm.PartText || parts[1].Type != llm.PartImage {
				t.Fatalf("parts %+v", parts)
			}
			mustContain(t, parts[0].Text, test.text, test.path)
			data, found := strings.CutPrefix(parts[1].Media.URL, "data:"+test.mime+";base64,")
			if !found {
				t.Fatalf("the address begins with %.40q", parts[1].Media.URL)
			}
			raw, err := base64.StdEncoding.DecodeString(data)
			if err != nil || len(raw) > maxPictureData {
				t.Fatalf("%d bytes, %v", len(raw), err)
			}
			if test.width == 0 {
				return
			}
			c, _, err := image.DecodeConfig(bytes.NewReader(raw))
			if err != nil || c.Width != test.width || c.Height != test.height {
				t.Errorf("%d×%d pixels, %v", c.Width, c.Height, err)
			}
			if smaller := strings.Contains(v.Message, "shown smaller"); smaller != !strings.Contains(test.text, fmt.Sprintf("%d×%d", c.Width, c.Height)) {
				t.Errorf("message %q", v.Message)
			}
		})
	}
	for path, want := range map[string]string{
		"bomb.png": "at most 50 million pixels", "broken.png": "is broken", "cut.png": "it is broken", "odd.webp": "is broken", "huge.webp": "convert it to PNG",
		"text": "use ReadFile", "data": "no image that can be shown", "empty": "is empty", "none": "not exist", "dir": "not a regular file", "../x": "rejected this call", "large.png": "too large",
	} {
		p.fails("ReadMediaFile", fmt.Sprintf(`{"path":%q}`, path), want)
	}
}

func TestModelThatCannotSee(t *testing.T) {
	p := newPlace(t, map[string]string{"a.png": pngOf(t, painted(3, 2))}, nil)
	p.fails("ReadMediaFile", `{"path":"a.png"}`, "cannot see images")
	p.executor.SetImages(true)
	p.ok("ReadMediaFile", `{"path":"a.png"}`)
	p.executor.SetImages(false)
	p.fails("ReadMediaFile", `{"path":"a.png"}`, "cannot see images")
	w := newWorld(t, func(o *Options) { o.Images = true })
	if v := w.call(t.Context(), "1", "ReadMediaFile", `{"path":"a.png"}`); !v.IsError {
		t.Errorf("without a tree: %+v", v)
	}
}

// TestMakeSmallerWhatDoesNotCompress: a PNG of noise becomes a JPEG, and smaller when
// that is not enough.
func TestMakeSmallerWhatDoesNotCompress(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 400, 100))
	random := rand.New(rand.NewPCG(5, 6))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.Uint32())
	}
	data := []byte(pngOf(t, noise))
	p, _ := pictureOf(data)
	for _, test := range []struct {
		limit, width int
		mime         string
	}{
		{1 << 20, 400, "image/png"}, {100_000, 400, "image/jpeg"}, {20_000, 200, "image/jpeg"}, {1, 200, "image/jpeg"},
	} {
		small, mime, err := makeSmaller(data, p, test.limit)
		if err != nil || small.width != test.width || mime != test.mime {
			t.Errorf("at most %d bytes: %d pixels wide, %s of %d bytes, %v", test.limit, small.width, mime, len(small.data), err)
		}
	}
}

// TestScaleDown: each new pixel is the mean of the old ones beneath it.
func TestScaleDown(t *testing.T) {
	src := image.NewGray(image.Rect(5, 7, 9, 11)) // not at the origin
	for i := range src.Pix {
		src.Pix[i] = uint8(i * 10)
	}
	dst := scaleDown(src, 2, 2)
	for i, want := range []uint8{(0 + 10 + 40 + 50) / 4, (20 + 30 + 60 + 70) / 4, (80 + 90 + 120 + 130) / 4, (100 + 110 + 140 + 150) / 4} {
		if got := dst.RGBAAt(i%2, i/2); got.R != want || got.A != 255 {
			t.Errorf("pixel %d is %v, want %d", i, got, want)
		}
	}
	odd := scaleDown(painted(7, 5), 3, 2)
	if odd.Bounds() != image.Rect(0, 0, 3, 2) || odd.RGBAAt(2, 1).A != 255 {
		t.Errorf("bounds %v, last pixel %v", odd.Bounds(), odd.RGBAAt(2, 1))
	}
	for _, c := range [][5]int{{4096, 100, 2048, 2048, 50}, {100, 4096, 2048, 50, 2048}, {10, 10, 2048, 10, 10}, {100_000, 1, 2048, 2048, 1}} {
		if w, h := fitted(c[0], c[1], c[2]); w != c[3] || h != c[4] {
			t.Errorf("%v fits into %d×%d", c, w, h)
		}
	}
}

func FuzzPicture(f *testing.F) {
	f.Add([]byte(webpOf("VP8L", 0x2f, 29, 0xc0, 4, 0)))
	f.Add([]byte(bmpOf(40, -5, -2147483648)))
	f.Add([]byte(pngOf(f, painted(2, 2))))
	f.Add([]byte("GIF89a\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, ok := pictureOf(data)
		if !ok {
			return
		}
		v := showPicture("/w/x", data, p)
		if p.width > 0 && p.height > 0 && max(p.width, p.height) <= maxPictureSide && v.IsError {
			t.Errorf("a picture of %d×%d pixels is refused: %s", p.width, p.height, v.Message)
		}
		if !v.IsError && len(v.Output.Parts) != 2 {
			t.Errorf("result %+v", wire.ToolReturnValue{Message: v.Message})
		}
	})
}
