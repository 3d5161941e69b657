// Command load asks a server checks, and prints what it measured as one line of NAME=NUMBER for script/bench.
//
//	load rate       --rate N [flags]           at planned times, whether or not earlier checks are answered
//	load handshakes --tls VERSION [--resume]   over a new TLS connection each, as fast as answers come
//	load handshakes --tls VERSION --rate N     the same at planned times
//
// A wrong answer ends it with 1.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"time"
)

// A check is the request that is sent over and over, and the body that must come back.
type check struct {
	address         string
	request, answer []byte
}

var ok = []byte("HTTP/1.1 200 ")

// isRight reports whether a response is whole and right.
func (c check) isRight(response []byte) bool {
	return bytes.HasPrefix(response, ok) && bytes.HasSuffix(response, c.answer)
}

func newCheck(address, questionFile, answerFile string, closes bool) (check, error) {
	question, err := os.ReadFile(questionFile)
	if err != nil {
		return check{}, err
	}
	answer, err := os.ReadFile(answerFile)
	if err != nil {
		return check{}, err
	}
	question, answer = bytes.TrimSpace(question), bytes.TrimSpace(answer)
	connection := ""
	if closes {
		connection = "Connection: close\r\n"
	}
	request := fmt.Sprintf("POST /v1/check HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		address, connection, len(question), question)
	return check{address, []byte(request), answer}, nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("say 'rate' or 'handshakes'")
	}
	flags := flag.NewFlagSet(arguments[0], flag.ExitOnError)
	address := flags.String("address", "", "the server, as HOST:PORT")
	question := flags.String("question", "", "the file of the body to post")
	answer := flags.String("answer", "", "the file of the body that must come back")
	connections := flags.Int("connections", 64, "how many connections there are at once")
	seconds := flags.Int("seconds", 5, "how long it asks")
	rate := flags.Int("rate", 0, "how many checks are planned in a second")
	version := flags.String("tls", "1.3", "handshakes: the version of TLS, 1.2 or 1.3")
	resume := flags.Bool("resume", false, "handshakes: resume the session of the connection before")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	check, err := newCheck(*address, *question, *answer, arguments[0] == "handshakes")
	if err != nil {
		return err
	}
	duration := time.Duration(*seconds) * time.Second
	switch arguments[0] {
	case "rate":
		return runRate(check, *connections, *rate, duration)
	case "handshakes":
		if *rate > 0 && *resume {
			return fmt.Errorf("--resume is not for --rate")
		}
		if *rate > 0 {
			return runHandshakesAtRate(check, *connections, *rate, *version, duration)
		}
		return runHandshakes(check, *connections, *version, *resume, duration)
	default:
		return fmt.Errorf("unknown command %q; say 'rate' or 'handshakes'", arguments[0])
	}
}
