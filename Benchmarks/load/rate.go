package main

import (
	"bytes"
	"fmt"
	"math/rand"
	"net"
	"runtime"
	"sort"
	"strconv"
	"syscall"
	"time"
)

// How long the answers to the last checks are waited for.
const grace = 5 * time.Second

// A connection has at most one check under way.
type connection struct {
	socket int
	// When the check under way was to be sent, and when the connection was last seen without one.
	planned, idleSince time.Duration
	buffer             [8192]byte
	received           int
}

// A rateLoad sends checks at planned times, and takes the time of each from then on: a server that is slow for a while
// does not make the load wait for it, and the wait of those that come meanwhile counts.
//
// It is one thread that never sleeps, since a timer would be late by more than many an answer takes.
type rateLoad struct {
	check       check
	connections []connection
	byFile      map[int32]*connection
	idle        []*connection // a ring, so that all are used in turn
	firstIdle   int
	idleCount   int
	poll        int
	start       time.Time
	// From the planned time to the answer; and from when the check could be sent to when it was.
	latencies, delays []time.Duration
}

func runRate(check check, connections, rate int, duration time.Duration) error {
	if rate < 1 || connections < 1 {
		return fmt.Errorf("--rate and --connections take a number from 1")
	}
	runtime.LockOSThread()
	load, err := newRateLoad(check, connections)
	if err != nil {
		return err
	}
	expected := rate * int(duration/time.Second)
	load.latencies = make([]time.Duration, 0, expected+expected/8+1000)
	load.delays = make([]time.Duration, 0, cap(load.latencies))
	unsent, end, err := load.run(rate, duration)
	if err != nil {
		return err
	}
	printLatencies(load.latencies, load.delays, connections-load.idleCount+unsent, end)
	return nil
}

func printLatencies(latencies, delays []time.Duration, unanswered int, end time.Duration) {
	fmt.Printf("requests=%d microseconds=%d planned=%d unanswered=%d p50=%d p99=%d p999=%d max=%d late=%d\n",
		len(latencies), end.Microseconds(), len(latencies)+unanswered, unanswered,
		share(latencies, 0.5), share(latencies, 0.99), share(latencies, 0.999), share(latencies, 1), share(delays, 0.999))
}

// pauses returns the times between checks: exponentially distributed, as those of many clients that do not know of each
// other are, and the same in each run.
func pauses(rate int) func() time.Duration {
	random := rand.New(rand.NewSource(1))
	interval := float64(time.Second) / float64(rate)
	return func() time.Duration { return time.Duration(random.ExpFloat64() * interval) }
}

// share returns the time, in microseconds, within which a share of the times lies. It sorts them.
func share(times []time.Duration, share float64) int64 {
	if len(times) == 0 {
		return 0
	}
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	return times[int(share*float64(len(times)-1)+0.5)].Microseconds()
}

func newRateLoad(check check, count int) (*rateLoad, error) {
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	load := &rateLoad{
		check:       check,
		connections: make([]connection, count),
		byFile:      make(map[int32]*connection, count),
		idle:        make([]*connection, count),
		poll:        poll,
	}
	for i := range load.connections {
		c := &load.connections[i]
		if c.socket, err = connect(check.address); err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", check.address, err)
		}
		event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(c.socket)}
		if err := syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, c.socket, &event); err != nil {
			return nil, fmt.Errorf("epoll_ctl: %w", err)
		}
		load.byFile[event.Fd] = c
		load.push(c)
	}
	return load, nil
}

func connect(address string) (int, error) {
	to, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return 0, err
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	peer := &syscall.SockaddrInet4{Port: to.Port}
	copy(peer.Addr[:], to.IP.To4())
	if err := syscall.Connect(socket, peer); err != nil {
		return 0, err
	}
	if err := syscall.SetsockoptInt(socket, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return 0, err
	}
	return socket, syscall.SetNonblock(socket, true)
}

func (l *rateLoad) push(c *connection) {
	l.idle[(l.firstIdle+l.idleCount)%len(l.idle)] = c
	l.idleCount++
}

func (l *rateLoad) pop() *connection {
	c := l.idle[l.firstIdle]
	l.firstIdle = (l.firstIdle + 1) % len(l.idle)
	l.idleCount--
	return c
}

// run sends the checks of that duration, and reads their answers. It returns how many could not be sent, since no
// connection was without one, and when it ended.
func (l *rateLoad) run(rate int, duration time.Duration) (unsent int, end time.Duration, err error) {
	pause := pauses(rate)
	events := make([]syscall.EpollEvent, 256)
	l.start = time.Now()
	next := pause()
	for {
		now := time.Since(l.start)
		for next <= now && next < duration && l.idleCount > 0 {
			if err := l.send(l.pop(), next); err != nil {
				return 0, 0, err
			}
			next += pause()
		}
		if next >= duration && l.idleCount == len(l.connections) || now >= duration+grace {
			for ; next < duration; next += pause() {
				unsent++
			}
			return unsent, now, nil
		}
		count, err := syscall.EpollWait(l.poll, events, 0)
		if err != nil && err != syscall.EINTR {
			return 0, 0, fmt.Errorf("epoll_wait: %w", err)
		}
		for i := 0; i < count; i++ {
			if err := l.receive(l.byFile[events[i].Fd]); err != nil {
				return 0, 0, err
			}
		}
	}
}

func (l *rateLoad) send(c *connection, planned time.Duration) error {
	earliest := planned
	if c.idleSince > earliest {
		earliest = c.idleSince
	}
	l.delays = append(l.delays, time.Since(l.start)-earliest)
	c.planned, c.received = planned, 0
	if count, err := syscall.Write(c.socket, l.check.request); err != nil || count != len(l.check.request) {
		return fmt.Errorf("writing: %d of %d bytes, %v", count, len(l.check.request), err)
	}
	return nil
}

func (l *rateLoad) receive(c *connection) error {
	count, err := syscall.Read(c.socket, c.buffer[c.received:])
	if err == syscall.EAGAIN || err == syscall.EINTR {
		return nil
	}
	if err != nil || count == 0 {
		return fmt.Errorf("the server closed a connection: %v", err)
	}
	c.received += count
	response := c.buffer[:c.received]
	if !l.check.isRight(response) {
		if !isComplete(response) {
			return nil
		}
		return fmt.Errorf("a wrong answer: %q", response)
	}
	now := time.Since(l.start)
	l.latencies = append(l.latencies, now-c.planned)
	c.idleSince = now
	l.push(c)
	return nil
}

var (
	endOfHead  = []byte("\r\n\r\n")
	lengthName = []byte("\r\ncontent-length: ")
)

// isComplete reports whether the head of a response and as many bytes of body as it announces are there.
func isComplete(response []byte) bool {
	head := bytes.Index(response, endOfHead)
	if head < 0 {
		return false
	}
	field := bytes.Index(bytes.ToLower(response[:head+2]), lengthName)
	if field < 0 {
		return true
	}
	value := response[field+len(lengthName) : head+2]
	length, err := strconv.Atoi(string(value[:bytes.IndexByte(value, '\r')]))
	return err != nil || len(response)-head-len(endOfHead) >= length
}
