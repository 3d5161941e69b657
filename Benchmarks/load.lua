-- What wrk sends, and what it reports afterwards: one line of NAME=NUMBER for script/bench.
-- Usage: wrk ... -s load.lua URL -- FILE CLOSE, where FILE holds the body to post, and CLOSE is true for a
-- connection a request; without them it asks with GET.

function init(arguments)
    if #arguments == 0 then return end
    local file = assert(io.open(arguments[1], "rb"))
    wrk.method = "POST"
    wrk.body = file:read("*a"):gsub("%s+$", "")
    wrk.headers["Content-Type"] = "application/json"
    if arguments[2] == "true" then wrk.headers["Connection"] = "close" end
    file:close()
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        "requests=%d microseconds=%d failed=%d p50=%d p99=%d\n",
        summary.requests, summary.duration,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end
