package fileop

import "context"

// linkCounter is a Store that knows how many names a file has.
type linkCounter interface {
	// Links gives the number of a file's names; 1 when that is not known.
	Links(ctx context.Context, path string) int
}

// Links implements linkCounter, which no root can see by itself: another name of the
// file may lie outside of all of them.
func (d *Disk) Links(ctx context.Context, path string) int {
	p, root, err := d.place(ctx, path)
	if err != nil {
		return 1
	}
	info, err := root.Lstat(p.rel)
	if err != nil {
		return 1
	}
	return linksOf(info)
}

func (o *Operator) links(ctx context.Context, p place) int {
	if counter, ok := o.disk.(linkCounter); ok {
		return counter.Links(ctx, p.name)
	}
	return 1
}
