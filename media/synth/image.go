package synth

import (
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
)

// Picture formats.
const (
	PNG  = "png"
	JPEG = "jpeg"
)

// ImageOptions describe one picture.
type ImageOptions struct {
	Format  string // PNG or JPEG
	Width   uint64 // pixels, 1 to 16384
	Height  uint64
	Quality uint64 // of JPEG, 90 to 100; 0 means 90
	Seed    uint64
	Work    uint64 // units of computation that do not change the bytes
}

// Image writes a picture. Invalid options give an error that wraps one
// *OptionError for each of them, before anything is written.
func Image(ctx context.Context, w io.Writer, o ImageOptions) error {
	var p problems
	if o.Format != PNG && o.Format != JPEG {
		p = append(p, &OptionError{"format", fmt.Sprintf("%q is neither %s nor %s", o.Format, PNG, JPEG)})
	}
	p.picture(o.Width, o.Height)
	p.between("work", o.Work, 0, maxWork)
	quality := p.quality(o.Quality)
	if err := p.err("image"); err != nil {
		return err
	}
	if err := work(ctx, o.Seed, o.Work); err != nil {
		return fmt.Errorf("synthesise image: %w", err)
	}
	var err error
	if o.Format == PNG {
		err = writePNG(ctx, w, o)
	} else {
		frame := newFrame(o.Width, o.Height)
		frame.draw(o.Seed, 0)
		err = jpeg.Encode(w, frame.picture, &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return fmt.Errorf("synthesise image: %w", err)
	}
	return nil
}

// frame is a picture for JPEG, in blocks of 8×8 samples of each plane. A block
// of one value has no frequency but the lowest, which quality 90 and more keep
// exactly: every decoder gives these values back.
type frame struct{ picture *image.YCbCr }

func newFrame(width, height uint64) frame {
	return frame{image.NewYCbCr(image.Rect(0, 0, int(width), int(height)), image.YCbCrSubsampleRatio420)}
}

// draw fills the picture: a drifting ramp with texture in the luma, slower
// patches in the chroma.
func (f frame) draw(seed, number uint64) {
	p := f.picture
	b := p.Bounds()
	fill(p.Y, p.YStride, b.Dx(), b.Dy(), func(x, y uint64) uint8 {
		return uint8(24 + (7*x+5*y+3*number+mix(seed, x, y, 0)%64)%208)
	})
	cw, ch := (b.Dx()+1)/2, (b.Dy()+1)/2
	for i, plane := range [][]uint8{p.Cb, p.Cr} {
		fill(plane, p.CStride, cw, ch, func(x, y uint64) uint8 {
			return uint8(64 + (3*x+3*y+number+mix(seed, x, y, uint64(1+i))%32)%128)
		})
	}
}

// fill sets every 8×8 block of a plane to one value.
func fill(plane []uint8, stride, width, height int, value func(x, y uint64) uint8) {
	for top := 0; top < height; top += 8 {
		first := plane[top*stride : top*stride+width]
		for left := 0; left < width; left += 8 {
			v := value(uint64(left/8), uint64(top/8))
			for x := left; x < min(left+8, width); x++ {
				first[x] = v
			}
		}
		for y := top + 1; y < min(top+8, height); y++ {
			copy(plane[y*stride:], first)
		}
	}
}
