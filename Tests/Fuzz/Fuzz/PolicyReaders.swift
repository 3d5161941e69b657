import Foundation
import PolicyDocument
import UpdatePolicy

@testable import PolicyServer

/// A version range and, after a line break, a version.
struct RangeReader: FuzzedReader {
    let name = "range"
    let usualInput = Array(">=1.1 <1.1.5 || ~2.0\n1.1.2-beta.3+45".utf8)

    func read(_ input: [UInt8]) throws {
        let halves = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(decoding: halves[0], as: UTF8.self)
        let version = halves.count > 1 ? AppVersion(String(decoding: halves[1], as: UTF8.self)) : nil
        guard let range = VersionRange(text) else { return }
        guard let again = VersionRange(text) else { throw ReaderFault(message: "read once, and refused once") }
        if let version, range.contains(version) != again.contains(version) {
            throw ReaderFault(message: "the same range judges a version in two ways")
        }
    }
}

/// A policy as a file, in YAML.
struct PolicyFileReader: FuzzedReader {
    let name = "policy-file"
    let usualInput = Array(
        """
        versiongate: 1
        apps:
          com.example.doto:
            name: Doto
            store_links: {ios: "https://apps.apple.com/app/id1"}
            releases: [{version: 1.10, platform: ios, build: 42, regions: [NO, "US"]}]
        rules:
          update:
            bundle: com.example.doto
            enabled: true
            title: Please update
            text: "{app} {target} is there."
            versions: "<1.10"
            target: "1.10"
            rollout: 5.5%
            attributes: {channel: [beta, true], tier: {not: [staff]}, stamp: {range: <45}}

        """.utf8
    )

    func read(_ input: [UInt8]) throws {
        let policy: Policy
        do throws(PolicyFileFaults) {
            policy = try PolicyDocument(input).policy
        } catch {
            guard !error.faults.isEmpty, error.faults.allSatisfy({ $0.position.line >= 1 && !$0.message.isEmpty })
            else { throw ReaderFault(message: "refused without a reason") }
            return
        }
        let text = PolicyDocument.text(of: policy, revision: 1)
        guard let again = try? PolicyDocument(Array(text.utf8)).policy,
            PolicyDocument.text(of: again, revision: 1) == text
        else { throw ReaderFault(message: "what was read is written as\n\(text)") }
    }
}

/// The last good policy as it is kept on disk, without its checksum, which is added.
struct StoredPolicyReader: FuzzedReader {
    let name = "stored-policy"
    let usualInput: [UInt8]
    private let file: LastGoodPolicyFile

    init() {
        let folder = FileManager.default.temporaryDirectory.path + "/versiongate-fuzz-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        file = LastGoodPolicyFile(stateDirectory: folder)
        var writer = LastGoodPolicyFileWriter(file)
        _ = try? writer.write(FuzzedPolicy.compiled())
        let written = (try? Data(contentsOf: URL(fileURLWithPath: file.path))) ?? Data()
        let checksum = written.dropLast().lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        usualInput = Array(written[..<checksum])
    }

    func read(_ input: [UInt8]) throws {
        let checksum = LastGoodPolicyFile.checksumName + SHA256.hash(data: input).hexadecimal
        guard let stored = try? file.policy(in: Data(input + Array("\(checksum)\n".utf8))),
            let policy = try? CompiledPolicy(stored)
        else { return }
        var client = Client()
        try client.set("bundle", to: .text(UTF8Text(FuzzedPolicy.bundle)))
        try client.set("version", to: .text("1.1"))
        try client.set("platform", to: .text("ios"))
        try client.set("install", to: .text("an install"))
        _ = try JSONSerialization.jsonObject(with: Data(policy.answer(to: client, at: FuzzedPolicy.time).body))
    }
}
