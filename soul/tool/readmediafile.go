package tool

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/fileop"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// The limits of one picture.
const (
	maxMediaFile   = 20 << 20   // bytes of the file
	maxPixels      = 50_000_000 // that are decoded; a small file can hold very many
	maxPictureSide = 2048       // pixels a model is given
	minPictureSide = 256        // pixels, below which shrinking for the bytes' sake ends
	maxPictureData = 4 << 20    // bytes a model is given
)

//go:embed readmediafile.md
var readMediaFileDescription string

type readMediaFileArguments struct {
	Path string `json:"path" jsonschema:"The image: an absolute path, or one relative to the working directory."`
}

func newReadMediaFile() Tool {
	return Define(Definition[readMediaFileArguments]{
		Name:        "ReadMediaFile",
		Description: readMediaFileDescription,
		Effect:      ReadOnly,
		Refine:      func(a map[string]*jsonschema.Schema) { a["path"].MinLength = jsonschema.Ptr(1) },
		Run:         readMediaFile,
	})
}

func readMediaFile(ctx context.Context, c *Invocation, in readMediaFileArguments) wire.ToolReturnValue {
	if !c.executor.images.Load() {
		return failure("The model that is in use cannot see images, so the file was not read. Tell the user, or find out what you need by other means, for example with a command that describes images.", "Images are not supported")
	}
	at, err := c.mayRead(ctx, in.Path, false)
	if err != nil {
		return Failed(ctx, err)
	}
	if err := c.executor.pictures.enter(ctx); err != nil {
		return Failed(ctx, err)
	}
	defer c.executor.pictures.leave()
	path := at.name
	data, err := c.readBytes(ctx, at, maxMediaFile)
	switch {
	case err != nil:
		return Failed(ctx, err)
	case len(data) == 0:
		return failure(path+" is empty.", "")
	}
	p, ok := pictureOf(data)
	if !ok {
		if isText(data) {
			return failure(path+" is a text file: use ReadFile.", "")
		}
		return failure(path+" is no image that can be shown: those are PNG, JPEG, GIF, WebP and BMP.", "Not an image")
	}
	return showPicture(path, data, p)
}

func isText(data []byte) bool {
	return !bytes.ContainsRune(data[:min(len(data), binaryHead)], 0) && utf8.Valid(data)
}

// readBytes gives the bytes of a file on disk that may be read.
func (c *Invocation) readBytes(ctx context.Context, at settled, limit int64) ([]byte, error) {
	if at.outside {
		data, err := c.executor.outside.ReadOutside(ctx, at.real)
		if err == nil && int64(len(data)) > limit {
			err = &fileop.SizeError{Path: at.name, Size: int64(len(data)), Max: limit}
		}
		return data, err
	}
	if c.executor.tree == nil {
		return nil, errNoTree
	}
	var data []byte
	failed := fmt.Errorf("%s: %w", at.name, fileop.ErrNotRegular)
	err := c.executor.tree.Scan(ctx, at.name, fileop.ScanOptions{
		WalkOptions: fileop.WalkOptions{MaxDepth: 1},
		MaxFile:     limit,
		Want: func(e fileop.Entry) bool {
			if e.Rel == "." && !at.found(e.Path) {
				failed = fmt.Errorf("%s: %w", at.name, fileop.ErrMoved)
				return false
			}
			return e.Rel == "."
		},
		Visit: func(_ int, e fileop.Entry, read []byte, err error) {
			if e.Rel == "." {
				data, failed = bytes.Clone(read), err
			}
		},
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", at.name, fs.ErrNotExist)
	}
	if err == nil {
		err = failed
	}
	return data, err
}

// showPicture gives an image to the model, made smaller where it is too large.
func showPicture(path string, data []byte, p picture) wire.ToolReturnValue {
	if p.width <= 0 || p.height <= 0 {
		return failure(fmt.Sprintf("%s begins like an image (%s), but is broken.", path, p.mime), "Broken image")
	}
	size := fmt.Sprintf("%s, %d×%d pixels, %s", p.mime, p.width, p.height, plural(len(data), "byte"))
	note := ""
	if max(p.width, p.height) > maxPictureSide || len(data) > maxPictureData {
		small, mime, err := makeSmaller(data, p, maxPictureData)
		if err != nil {
			return failure(fmt.Sprintf("%s (%s) cannot be shown: %s.", path, size, err.Error()), "Image too large")
		}
		data, p.mime = small.data, mime
		note = fmt.Sprintf(" It is shown smaller, with %d×%d pixels; give places in it as parts of its width and height.", small.width, small.height)
	}
	return wire.ToolReturnValue{
		Output: wire.Output{Parts: []llm.Part{
			llm.Text(fmt.Sprintf("Image %s (%s):", path, size)),
			llm.Image("data:" + p.mime + ";base64," + base64.StdEncoding.EncodeToString(data)),
		}},
		Message: fmt.Sprintf("Read the image %s: %s.%s", path, size, note),
	}
}

type smallPicture struct {
	data          []byte
	width, height int
}

// makeSmaller gives an image of at most maxPictureSide pixels a side and, as far as
// shrinking it to minPictureSide helps, at most limit bytes.
func makeSmaller(data []byte, p picture, limit int) (smallPicture, string, error) {
	switch {
	case !p.decodes:
		return smallPicture{}, "", fmt.Errorf("images of this kind are shown up to %d pixels a side and %d MiB; convert it to PNG or make it smaller with a command", maxPictureSide, maxPictureData>>20)
	case p.width > maxPixels/p.height:
		return smallPicture{}, "", fmt.Errorf("at most %d million pixels are read; make it smaller with a command", maxPixels/1_000_000)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return smallPicture{}, "", fmt.Errorf("it is broken (%w)", err)
	}
	// A picture full of noise stays large whatever it is turned into, so it shrinks.
	for side := min(maxPictureSide, max(p.width, p.height)); ; side /= 2 {
		w, h := fitted(img.Bounds().Dx(), img.Bounds().Dy(), side)
		encoded, mime, err := encodePicture(scaleDown(img, w, h), p.mime, limit)
		if err != nil {
			return smallPicture{}, "", fmt.Errorf("it could not be made smaller (%w)", err)
		}
		if len(encoded) <= limit || side <= minPictureSide {
			return smallPicture{data: encoded, width: w, height: h}, mime, nil
		}
		p.mime = mime
	}
}
