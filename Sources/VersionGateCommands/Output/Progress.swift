/// Shows on a terminal what a command waits for, if that takes longer than a second.
enum Progress {
    /// Runs `body`; the activity is shown on standard error after one second, and erased at the end.
    static func showing<Result>(
        _ activity: String,
        on terminal: Terminal = .standardError,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard terminal.isScreen else { return try await body() }
        let sign = Task {
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                return
            }
            printError(terminal.styled("\(activity)...", .faint))
            await Self.waitForCancellation()
            printError("\r\u{1B}[K")
        }
        do {
            let result = try await body()
            await end(sign)
            return result
        } catch {
            await end(sign)
            throw error
        }
    }

    private static func end(_ sign: Task<Void, Never>) async {
        sign.cancel()
        await sign.value
    }

    private static func waitForCancellation() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        continuation.finish()
    }
}
