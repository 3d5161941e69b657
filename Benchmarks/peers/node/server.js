// Answers POST /v1/check with node:http and one rule in the code: versions of Doto for iOS below 1.2 are asked to
// update. Prints its address when it is ready.

import { createServer } from "node:http";

const maxBodyLength = 16_384;
const required = [1, 2];

/** Reads numbers joined by dots; null for anything else. */
function parseVersion(text) {
    if (typeof text !== "string" || !/^\d+(\.\d+)*$/.test(text)) {
        return null;
    }
    return text.split(".").map(Number);
}

/** Returns whether version a comes before version b; numbers that are missing count as 0. */
function isLess(a, b) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) {
        const difference = (a[i] ?? 0) - (b[i] ?? 0);
        if (difference !== 0) {
            return difference < 0;
        }
    }
    return false;
}

function messagesFor(check) {
    const version = parseVersion(check.version);
    if (
        version === null ||
        !isLess(version, required) ||
        String(check.bundle).toLowerCase() !== "com.example.doto" ||
        String(check.platform).toLowerCase() !== "ios"
    ) {
        return [];
    }
    return [
        {
            id: "doto-update",
            title: "Please update",
            text: "Doto 1.2 is in the App Store. It keeps your lists in step when the network is slow.",
            link: "https://apps.example.com/doto",
        },
    ];
}

function send(response, status, type, body, headers = {}) {
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body), ...headers });
    response.end(body);
}

function answer(response, body) {
    let check;
    try {
        check = JSON.parse(body);
    } catch (error) {
        send(response, 400, "text/plain", `the body is no check: ${error.message}\n`);
        return;
    }
    if (check === null || typeof check !== "object" || Array.isArray(check)) {
        send(response, 400, "text/plain", "the body is no check: not an object\n");
        return;
    }
    const text = JSON.stringify({ messages: messagesFor(check) });
    response.writeHead(200, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(text),
        "Cache-Control": "no-store",
        "Policy-Revision": "1",
    });
    response.end(text);
}

const server = createServer((request, response) => {
    if (request.url !== "/v1/check") {
        send(response, 404, "text/plain", "not found\n");
        return;
    }
    if (request.method !== "POST") {
        send(response, 405, "text/plain", "use POST\n", { Allow: "POST" });
        return;
    }
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
        body += chunk;
        if (body.length > maxBodyLength) {
            send(response, 413, "text/plain", "the body is too large\n", { Connection: "close" });
            request.destroy();
        }
    });
    request.on("end", () => answer(response, body));
});

// As nginx: a connection may be idle for 75 seconds, and many may come at once.
server.keepAliveTimeout = 75_000;
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
    const { address, port } = server.address();
    console.log(`http://${address}:${port}`);
});
