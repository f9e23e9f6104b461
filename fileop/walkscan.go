package fileop

import (
	"context"
	"errors"
	"sync"
)

// ScanOptions say what a scan reads. Want and Visit are required.
type ScanOptions struct {
	WalkOptions
	Workers int   // how many files are read at once; 0: one
	MaxFile int64 // bytes of the largest file that is read; 0: MaxFile

	// Want tells whether a regular file is to be read. It is called by one goroutine,
	// in the order of the walk.
	Want func(Entry) bool
	// Visit gets the bytes of a file, or why they could not be read, or why a folder
	// could not be. n counts the visits from 0 in the order of the walk. Visits come
	// side by side; one may wait for those with a lower n, which never wait for it to
	// begin or end. The bytes are the visit's until it returns.
	Visit func(n int, e Entry, data []byte, err error)
}

// scanJob is a file on its way to a reader.
type scanJob struct {
	n   int
	e   Entry
	err error
}

// Scan walks like Walk and reads the files that are wanted, several at once. It
// returns after the last visit: nil, ErrWalkLimit, ctx's error, or why the walk could
// not begin. When ctx has ended, files that were wanted may stay unvisited. A panic
// in a visit is a panic of Scan.
func (d *Disk) Scan(ctx context.Context, path string, o ScanOptions) error {
	if o.MaxFile <= 0 {
		o.MaxFile = MaxFile
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := make(chan scanJob, 64)
	var readers sync.WaitGroup
	panics := make(chan any, 1)
	for range max(o.Workers, 1) {
		readers.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					cancel()
					select {
					case panics <- p:
					default:
					}
				}
			}()
			o.visitAll(ctx, jobs)
		})
	}
	err := d.send(ctx, path, o, jobs)
	close(jobs)
	readers.Wait()
	for job := range jobs {
		job.release()
	}
	select {
	case p := <-panics:
		panic(p)
	default:
		return err
	}
}

// send walks, and hands on what is to be visited.
func (d *Disk) send(ctx context.Context, path string, o ScanOptions, jobs chan<- scanJob) error {
	n := 0
	for e, err := range d.Walk(ctx, path, o.WalkOptions) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (e.Path == "" || errors.Is(err, ErrWalkLimit)):
			return err
		case err == nil && (!e.Type.IsRegular() || !o.Want(e)):
			continue
		}
		job := scanJob{n: n, e: e, err: err}
		if err == nil {
			e.folder.retain()
		}
		select {
		case jobs <- job:
			n++
		case <-ctx.Done():
			job.release()
			return ctx.Err()
		}
	}
	return nil
}

func (j scanJob) release() {
	if j.err == nil {
		j.e.folder.release()
	}
}

func (o ScanOptions) visitAll(ctx context.Context, jobs <-chan scanJob) {
	var buf []byte
	for job := range jobs {
		if ctx.Err() != nil {
			job.release()
			continue
		}
		buf = o.visit(ctx, job, buf)
	}
}

// visit reads one file, and gives a buffer for the next.
func (o ScanOptions) visit(ctx context.Context, job scanJob, buf []byte) []byte {
	defer job.release()
	if job.err != nil {
		o.Visit(job.n, job.e, nil, job.err)
		return buf
	}
	data, err := job.e.folder.read(ctx, job.e.Path, o.MaxFile, buf)
	o.Visit(job.n, job.e, data, err)
	const keep = 4 << 20 // bytes; a rare larger buffer is not held on to
	if cap(data) > cap(buf) && cap(data) <= keep {
		return data
	}
	return buf
}
