"""Counts the user instructions that a server spends on a request, while callgrind runs it.

    bursts.py --url URL --pid PID --request NAME [--bursts N] [--connections N]

It prints how many requests were counted. A burst sends one request on each of the connections and then reads all answers, so that the server finds many requests
at once, as it does under load. With `--request connect` each connection is opened for one request.
"""

import argparse
import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

FOLDER = Path(__file__).parent.parent

# As a phone sends it: what apps name, and what their HTTP library adds.
PLAIN = "Host: checks.example.com\r\nContent-Type: application/json\r\n"
SEVEN_MORE = (
    PLAIN
    + "Accept: */*\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: en-US,en;q=0.9\r\n"
    + "User-Agent: Doto/42 CFNetwork/1494.0.7 Darwin/23.4.0\r\nConnection: keep-alive\r\n"
    + "X-Forwarded-For: 203.0.113.7\r\nX-Request-Id: 2f1acc6c3a606b082e5eef5e54414ffb\r\n"
)


def post(body, fields=PLAIN):
    return f"POST /v1/check HTTP/1.1\r\n{fields}Content-Length: {len(body)}\r\n\r\n{body}".encode()


QUESTION = (FOLDER / "question.json").read_text().strip()
REQUESTS = {
    "message": post(QUESTION),
    "headers": post(QUESTION, SEVEN_MORE),
    "none": post(QUESTION.replace("1.1.0", "1.2.0")),
    "five": post('{"version":"1.1.0","platform":"iOS","region":"de_DE","language":"de","bundle":"com.example.five"}'),
    "rollout": post(
        '{"version":"1.1.0","platform":"iOS","bundle":"com.example.staged",'
        '"install":"7e57d004-2b97-4e7a-b45f-5387367791cd"}'
    ),
    "get": (
        "GET /v1/check?version=1.1.0&build=42&platform=iOS&region=en_US&bundle=com.example.doto HTTP/1.1\r\n"
        "Host: checks.example.com\r\n\r\n"
    ).encode(),
}
REQUESTS["chunked"] = (
    f"POST /v1/check HTTP/1.1\r\n{PLAIN}Transfer-Encoding: chunked\r\n\r\n"
    f"{len(QUESTION):x}\r\n{QUESTION}\r\n0\r\n\r\n"
).encode()
REQUESTS["connect"] = REQUESTS["message"]


def read_answer(connection, pending=b""):
    while b"\r\n\r\n" not in pending:
        pending += receive(connection)
    head, _, body = pending.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        sys.exit(f"bursts.py: refused: {head.decode()}")
    length = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head).group(1))
    while len(body) < length:
        body += receive(connection)
    return body


def receive(connection):
    data = connection.recv(65536)
    if not data:
        sys.exit("bursts.py: the server closed a connection")
    return data


def connect(url):
    connection = socket.create_connection((url.hostname, url.port), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def burst(url, request, connections, closes):
    if closes:
        connections = [connect(url) for _ in range(len(connections))]
    for connection in connections:
        connection.sendall(request)
    answers = {read_answer(connection) for connection in connections}
    if closes:
        for connection in connections:
            connection.close()
    return answers


def callgrind(pid, switch):
    subprocess.run(["callgrind_control", *switch, str(pid)], check=True, capture_output=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True, type=urlsplit)
    parser.add_argument("--pid", required=True, type=int)
    parser.add_argument("--request", required=True, choices=REQUESTS)
    parser.add_argument("--bursts", type=int, default=60)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()

    request = REQUESTS[options.request]
    closes = options.request == "connect"
    connections = [None] * options.connections if closes else [connect(options.url) for _ in range(options.connections)]
    answers = set()
    for _ in range(10):
        answers |= burst(options.url, request, connections, closes)
    callgrind(options.pid, ["--instr=on"])
    for _ in range(options.bursts):
        answers |= burst(options.url, request, connections, closes)
    callgrind(options.pid, ["--instr=off"])
    if len(answers) != 1:
        sys.exit(f"bursts.py: {len(answers)} different answers")
    print(options.bursts * options.connections)


if __name__ == "__main__":
    main()
