// Command peer answers POST /v1/check with net/http and one rule in the code: versions of Doto for iOS below 1.2 are
// asked to update. It prints its address when it is ready.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
)

const maxBodyBytes = 16_384

// A check is what an app sends about itself at startup.
type check struct {
	Bundle   string `json:"bundle"`
	Version  string `json:"version"`
	Build    string `json:"build"`
	Platform string `json:"platform"`
	Region   string `json:"region"`
}

// A message is what the user of the app gets to see.
type message struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	Link    string `json:"link,omitempty"`
	Lockout bool   `json:"lockout,omitempty"`
}

// An answer holds the messages for one check, in order.
type answer struct {
	Messages []message `json:"messages"`
}

// A version is the numbers of a dotted version.
type version []int

// parseVersion reads numbers joined by dots.
func parseVersion(text string) (version, error) {
	parts := strings.Split(text, ".")
	numbers := make(version, len(parts))
	for i, part := range parts {
		number, err := strconv.Atoi(part)
		if err != nil || number < 0 {
			return nil, fmt.Errorf("%q is not a version: %q is not a number", text, part)
		}
		numbers[i] = number
	}
	return numbers, nil
}

// less reports whether v comes before other; numbers that are missing count as 0.
func (v version) less(other version) bool {
	for i := 0; i < len(v) || i < len(other); i++ {
		if a, b := v.at(i), other.at(i); a != b {
			return a < b
		}
	}
	return false
}

func (v version) at(i int) int {
	if i < len(v) {
		return v[i]
	}
	return 0
}

var required = version{1, 2}

func messagesFor(c check) []message {
	current, err := parseVersion(c.Version)
	if err != nil || !current.less(required) ||
		!strings.EqualFold(c.Bundle, "com.example.doto") || !strings.EqualFold(c.Platform, "ios") {
		return []message{}
	}
	return []message{{
		ID:    "doto-update",
		Title: "Please update",
		Text:  "Doto 1.2 is in the App Store. It keeps your lists in step when the network is slow.",
		Link:  "https://apps.example.com/doto",
	}}
}

func handleCheck(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "use POST", http.StatusMethodNotAllowed)
		return
	}
	var c check
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBodyBytes)).Decode(&c); err != nil {
		http.Error(w, "the body is no check: "+err.Error(), http.StatusBadRequest)
		return
	}
	response, err := json.Marshal(answer{Messages: messagesFor(c)})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("Policy-Revision", "1")
	if _, err := w.Write(response); err != nil {
		log.Printf("answering: %v", err)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/check", handleCheck)
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}
