import CheckListener
import Glibc
import NIOCore
import NIOPosix
import UpdatePolicy

/// Serves checks from a policy of its own, without a database: the hot path alone, for callgrind and for experiments.
///
///     ListenerBenchmark [RULES [EVENT-LOOPS]] [--rate-limit] [--costly]
///
/// With `--rate-limit` it holds clients to a rate that none reaches, and takes this machine and 10.0.0.0/8 for proxies. With
/// `--costly` it also has the apps of ``CostlyPolicy`` and signs lockouts.
/// It prints the address that it listens at, and ends when its standard input does.
@main
enum ListenerBenchmark {
    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: numbers.count > 1 ? numbers[1] : 1)
        let recorders = CheckRecorders(eventLoopGroup: group, maximumKinds: 10_000)
        var policy = BenchmarkPolicy.policy(rules: numbers.first ?? 1_000)
        let isCostly = CommandLine.arguments.contains("--costly")
        if isCostly { CostlyPolicy.add(to: &policy) }
        var bootstrap = CheckServerBootstrap(
            policy: CurrentPolicy(try CompiledPolicy(policy)), eventLoopGroup: group, clock: now
        )
        bootstrap.recorders = recorders
        if isCostly { bootstrap.lockoutKey = CurrentLockoutKey(LockoutKey.random()) }
        if CommandLine.arguments.contains("--rate-limit") {
            bootstrap.rateLimit = try RateLimit(parsing: "1000000:1000000")
            bootstrap.trustedProxies = try TrustedProxies(parsing: "127.0.0.1,10.0.0.0/8")
        }
        let server = try await bootstrap.open { $0.bind(host: "127.0.0.1", port: 0) }
        print("http://127.0.0.1:\(server.channel.localAddress?.port ?? 0)")
        fflush(nil)
        while readLine() != nil {}
        _ = recorders.drain(at: now())
        exit(0)
    }

    @Sendable
    private static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microsecondsSince1970: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }
}
