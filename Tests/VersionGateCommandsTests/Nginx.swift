import Foundation
import TestDatabase
import TestSystem

/// An nginx with a configuration that is in the repository, but for addresses and paths.
enum Nginx {
    /// Where the program is; nil if it is not installed.
    static let program = Companion.find("nginx")

    /// Runs nginx in front of two ports of 127.0.0.1, and gives its own port to `body`.
    ///
    /// - Parameters:
    ///   - ports: Those of the servers.
    ///   - file: The configuration; nil: that of nginx in front of the servers, or of an API.
    ///   - api: The port of an API that the servers guard; nil: nginx is in front of the servers.
    ///   - patience: How long it waits for the servers that guard an API; nil: as in the repository, which is less than
    ///     a busy machine may need.
    static func run(
        _ file: String? = nil,
        inFrontOf ports: (Int, Int),
        guarding api: Int? = nil,
        patience: String? = nil,
        _ body: @Sendable (Int) async throws -> Void
    ) async throws {
        guard let program else { throw CompanionError("nginx is not installed") }
        let port = try await FreePort.choose()
        try await StateFolder.with { folder in
            let source = RepositoryFile.url("deploy/" + (file ?? (api == nil ? "nginx.conf" : "nginx-gate.conf")))
            var configuration = try String(contentsOf: source, encoding: .utf8)
                .replacing("server-a:8080", with: "127.0.0.1:\(ports.0)")
                .replacing("server-b:8080", with: "127.0.0.1:\(ports.1)")
                .replacing("server api:8080", with: "server 127.0.0.1:\(api ?? 0)")
                .replacing("listen 8080", with: "listen 127.0.0.1:\(port)")
                .replacing("/tmp/nginx", with: "\(folder.path)/nginx")
                .replacing("worker_rlimit_nofile 65536;", with: "")
            if let patience {
                configuration.replace(#/(proxy_(?:connect|send|read)_timeout) \d+ms/#) { "\($0.output.1) \(patience)" }
            }
            let file = "\(folder.path)/nginx.conf"
            try configuration.write(toFile: file, atomically: true, encoding: .utf8)
            try await Companion.run(
                [program, "-p", folder.path, "-c", file, "-g", "daemon off;"], asOwnerOf: folder.path,
                log: "\(folder.path)/log"
            ) {
                try await Poll.until("nginx to open its port") { await FreePort.isOpen(port) }
                try await body(port)
            }
        }
    }
}
