package tool

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/draw"
	_ "image/gif" // registers the decoder
	"image/jpeg"
	"image/png"
)

// picture is what the head of an image file tells.
type picture struct {
	mime          string
	width, height int // 0: the head is broken
	decodes       bool
}

// pictureOf recognises an image by its first bytes; false: it is none that is known.
func pictureOf(data []byte) (picture, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return decodable(data, "image/png"), true
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return decodable(data, "image/jpeg"), true
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return decodable(data, "image/gif"), true
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		w, h := webpSize(data[12:])
		return picture{mime: "image/webp", width: w, height: h}, true
	case len(data) >= 26 && string(data[:2]) == "BM" && binary.LittleEndian.Uint32(data[6:]) == 0:
		w, h := bmpSize(data)
		return picture{mime: "image/bmp", width: w, height: h}, true
	}
	return picture{}, false
}

// decodable reads the size by a decoder's own reading of the head.
func decodable(data []byte, mime string) picture {
	p := picture{mime: mime, decodes: true}
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		p.width, p.height = c.Width, c.Height
	}
	return p
}

// webpSize reads the first chunk of a WebP file.
func webpSize(chunk []byte) (width, height int) {
	if len(chunk) < 18 {
		return 0, 0
	}
	kind, body := string(chunk[:4]), chunk[8:]
	le16 := func(at int) int { return int(binary.LittleEndian.Uint16(body[at:])) }
	le24 := func(at int) int { return le16(at) | int(body[at+2])<<16 }
	switch {
	case kind == "VP8 " && body[3] == 0x9d && body[4] == 0x01 && body[5] == 0x2a:
		return le16(6) & 0x3fff, le16(8) & 0x3fff
	case kind == "VP8L" && body[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case kind == "VP8X":
		return le24(4) + 1, le24(7) + 1
	}
	return 0, 0
}

// bmpSize reads the head of a BMP file. The height is negative in files that begin
// at the top.
func bmpSize(data []byte) (width, height int) {
	if binary.LittleEndian.Uint32(data[14:]) < 16 {
		return int(binary.LittleEndian.Uint16(data[18:])), int(binary.LittleEndian.Uint16(data[20:]))
	}
	width = int(int32(binary.LittleEndian.Uint32(data[18:])))
	height = int(int32(binary.LittleEndian.Uint32(data[22:])))
	if height < 0 {
		height = -height
	}
	return max(width, 0), height
}

// fitted gives the size, at least 1 by 1, to which an image is made smaller so that
// no side is longer than limit.
func fitted(width, height, limit int) (int, int) {
	if width <= limit && height <= limit {
		return width, height
	}
	if width >= height {
		return limit, max(height*limit/width, 1)
	}
	return max(width*limit/height, 1), limit
}

// scaleDown makes an image smaller: each new pixel is the mean of those that it
// covers. The new size must be at least 1 by 1 and at most the old one.
func scaleDown(src image.Image, width, height int) *image.RGBA {
	from := src.Bounds()
	dst := image.NewRGBA(image.Rect(0, 0, width, height))
	row := image.NewRGBA(image.Rect(0, 0, from.Dx(), 1))
	sums := make([]int, 4*width)
	for y := range height {
		clear(sums)
		top, bottom := y*from.Dy()/height, (y+1)*from.Dy()/height
		for sy := top; sy < bottom; sy++ {
			draw.Draw(row, row.Bounds(), src, image.Pt(from.Min.X, from.Min.Y+sy), draw.Src)
			for x := range width {
				left, right := x*from.Dx()/width, (x+1)*from.Dx()/width
				for at := 4 * left; at < 4*right; at++ {
					sums[4*x+at&3] += int(row.Pix[at])
				}
			}
		}
		for x := range width {
			n := ((x+1)*from.Dx()/width - x*from.Dx()/width) * (bottom - top)
			for channel := range 4 {
				dst.Pix[dst.PixOffset(x, y)+channel] = byte(sums[4*x+channel] / n)
			}
		}
	}
	return dst
}

// encodePicture writes an image: as JPEG when it came as one, else as PNG, which
// keeps text sharp, and as JPEG after all where the PNG has more than limit bytes.
func encodePicture(img image.Image, mime string, limit int) ([]byte, string, error) {
	var b bytes.Buffer
	if mime != "image/jpeg" {
		if err := png.Encode(&b, img); err != nil {
			return nil, "", err
		}
		if b.Len() <= limit {
			return b.Bytes(), "image/png", nil
		}
		b.Reset()
	}
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 85}); err != nil {
		return nil, "", err
	}
	return b.Bytes(), "image/jpeg", nil
}
