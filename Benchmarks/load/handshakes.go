package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"sync"
	"time"
)

// A tally is what a client counted.
type tally struct {
	handshakes, resumed int
	suite               uint16
	err                 error
}

// runHandshakes opens a connection for each check, as many at once as asked for.
func runHandshakes(check check, connections int, version string, resume bool, duration time.Duration) error {
	base, err := newConfiguration(version)
	if err != nil {
		return err
	}
	tallies := make([]tally, connections)
	start := time.Now()
	var clients sync.WaitGroup
	for i := range tallies {
		clients.Add(1)
		go func(t *tally) {
			defer clients.Done()
			configuration := base.Clone()
			if resume {
				configuration.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			}
			for t.err == nil && time.Since(start) < duration {
				t.err = t.ask(check, configuration)
			}
		}(&tallies[i])
	}
	clients.Wait()
	total := tally{}
	for _, t := range tallies {
		if t.err != nil {
			return t.err
		}
		total.handshakes += t.handshakes
		total.resumed += t.resumed
		total.suite = t.suite
	}
	// The first connection of each client has no session to resume.
	if resume && total.resumed != total.handshakes-connections {
		return fmt.Errorf("%d of %d sessions were resumed", total.resumed, total.handshakes-connections)
	}
	fmt.Printf("requests=%d microseconds=%d resumed=%d suite=%s\n",
		total.handshakes, time.Since(start).Microseconds(), total.resumed, tls.CipherSuiteName(total.suite))
	return nil
}

// runHandshakesAtRate opens a connection for each check at planned times, whether or not earlier checks are answered, but
// at most so many at once. A latency is from the planned time to the end of the answer, and so has the handshake in it.
func runHandshakesAtRate(check check, connections, rate int, version string, duration time.Duration) error {
	configuration, err := newConfiguration(version)
	if err != nil {
		return err
	}
	var (
		lock      sync.Mutex
		clients   sync.WaitGroup
		latencies []time.Duration
		delays    []time.Duration
		failure   error
	)
	places := make(chan struct{}, connections)
	pause := pauses(rate)
	start := time.Now()
	for next := pause(); next < duration; next += pause() {
		time.Sleep(next - time.Since(start))
		places <- struct{}{}
		clients.Add(1)
		go func(planned, delay time.Duration) {
			defer clients.Done()
			err := new(tally).ask(check, configuration)
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				failure = err
			}
			delays = append(delays, delay)
			latencies = append(latencies, time.Since(start)-planned)
			<-places
		}(next, time.Since(start)-next)
	}
	clients.Wait()
	if failure != nil {
		return failure
	}
	printLatencies(latencies, delays, 0, time.Since(start))
	return nil
}

// newConfiguration trusts any certificate: the server is one of this machine, whose certificate signs itself.
func newConfiguration(version string) (*tls.Config, error) {
	versions := map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
	if versions[version] == 0 {
		return nil, fmt.Errorf("--tls takes 1.2 or 1.3, not %q", version)
	}
	return &tls.Config{InsecureSkipVerify: true, MinVersion: versions[version], MaxVersion: versions[version]}, nil
}

// ask asks one check over a connection of its own.
func (t *tally) ask(check check, configuration *tls.Config) error {
	connection, err := tls.Dial("tcp", check.address, configuration)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := connection.Write(check.request); err != nil {
		return err
	}
	response, err := io.ReadAll(connection)
	if err != nil {
		return err
	}
	if !check.isRight(response) {
		return fmt.Errorf("a wrong answer: %q", response)
	}
	state := connection.ConnectionState()
	t.handshakes++
	t.suite = state.CipherSuite
	if state.DidResume {
		t.resumed++
	}
	return nil
}
