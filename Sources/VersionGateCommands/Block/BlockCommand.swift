import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

struct BlockCommand: AsyncParsableCommand {
    static let configuration = command(
        "block", "Lock out one version of an app, or one build of it, until users update.",
        "versiongate block com.example.doto 1.1",
        #"versiongate block com.example.doto 1.1 --build 113 --platform ios --why "loses data""#,
        discussion: """
            It adds an enabled rule with a lockout for that version. Like every edit, it shows who it reaches, and asks. \
            Users without a newer release get the message, and are not locked out. So it is refused if no newer release \
            or no link to the store is recorded; it then prints the commands that record them.
            """
    )

    @Argument(help: "The bundle of the app.") var bundle: String
    @Argument(help: "The version, as the app reports it.") var version: String
    @Option(help: "Only this build of the version.") var build: String?
    @Option(each: "platform", "Only this platform (ios, android, macos, ...)") var platforms: [String]
    @Option(help: "The message's title.") var title = "Please update"
    @Option(help: "The message's text. {app} is filled in.")
    var text = "This version of {app} does not work correctly. Please install the newest version."
    @Option(help: ArgumentHelp("Where the message leads; the app's store link unless given.", valueName: "url|store"))
    var link = Rule.storeLink
    @Option(help: "The rule's key; made from the version unless given.") var key: String?
    @Option(percent: "Remove the lockout automatically above this share of checks.") var fuse: String?
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let (used, recent) = try await database.read { reports in
            let session = reports.session
            try CommandError.requireMeantApp(bundle, version: self.version, session)
            let recent = try CountReader(session).recentChecksIfReadable(
                days: RecentChecks.usualDays, bundles: [bundle])
            return (try PolicyReader.usedKeys(session), recent)
        }
        let version = try single(version, "version", several: "--versions '>=1.1 <1.2'")
        let build = try build.map { try single($0, "build", several: "--versions =\(version) --builds '100 - 110'") }
        let name = build.map { "\(version) (\($0))" } ?? version.text
        let key = key ?? unusedKey(for: [version.text, build?.text], unlike: used)
        let platforms = platforms.map { Platform($0).name }
        let clients = recent.clients.filter {
            $0.client.version == version && (build == nil || $0.client.build == build)
                && (platforms.isEmpty || platforms.contains($0.client.platform?.name ?? ""))
        }
        if recent.known > 0 {
            let share = NumberText.share(clients.reduce(0) { $0 + $1.checks }, ofChecks: recent.known)
            let place = platforms.isEmpty ? "" : " on \(platforms.joined(separator: ", "))"
            let sentence = "\(share) of \(bundle) in the last \(recent.days) days came from \(name)\(place)."
            print(Terminal.standardOutput.paragraphs(sentence.visible()))
        }
        let values: [ColumnValue<Rule>] = [
            .init(\.key, key), .init(\.bundle, bundle), .init(\.versions, "=\(version)"), .init(\.lockout, true),
            .init(\.builds, build.map { "=\($0)" }), .init(\.platforms, platforms.isEmpty ? nil : platforms),
            .init(\.title, title), .init(\.text, text), .init(\.link, link), .init(\.enabled, true),
        ]
        let fuse = fuse.map { [ColumnValue<Rule>(\.fuse, written: $0)] } ?? []
        let client = clients.max { $0.checks < $1.checks }?.client
        try await options.edit(on: database, values: { $0.now }) { editor, now in
            try editor.insert(values + fuse)
            if let other = try editor.otherLockout(likeRule: key) {
                let cure =
                    other.isOn
                    ? "already; `\(PrintedCommand("rule show \(other.key)"))` shows it, and why it may reach nobody"
                    : "and is off; to turn it on: \(PrintedCommand("rule enable \(other.key)"))"
                throw CommandError("rule \(other.key) blocks \(name) \(cure)")
            }
            try requireWayOut(from: version, build, called: name, editor.session, at: now)
        } summary: { session in
            let status = try RuleStatus.all(session, keys: [key])[key]
            let reason = status?.reason.map { ": \($0.local)" } ?? ""
            let released = Set(try PolicyReader.policy(session, bundles: [bundle]).releases.map(\.platform))
            let platform = client?.platform?.name ?? platforms.first ?? (released.count == 1 ? released.first : nil)
            let members = [
                "bundle=\(bundle)", "version=\(version)", (build ?? client?.build).map { "build=\($0)" },
                "platform=\(platform ?? "PLATFORM")",
                client?.os.map { "os=\($0)" }, client?.regionText.map { "region=\($0.string)" },
            ].compactMap { $0?.shellWord }.joined(separator: " ")
            let check = PrintedCommand("check --explain \(members)")
            let state =
                switch status?.name {
                case .onWithoutLockout: "on, but locks nobody out"
                case .partlyWithoutLockout: "on, but locks out only in part"
                default: status?.name.rawValue ?? "gone"
                }
            return "\(key) is \(state)\(reason). To see what such a client gets: \(check)"
        }
    }

    /// One version or build. `100-110` can be read as a version, with a pre-release, and no build is called that.
    private func single(_ text: String, _ noun: String, several: String) throws -> AppVersion {
        let isOne = VersionRange("=\(text)") != nil && (noun == "version" || VersionRange(text) != nil)
        if isOne, let one = AppVersion(text) { return one }
        throw CommandError(
            "\"\(text)\" is not one \(noun); write it as the app reports it: \(noun == "version" ? "1.1.3" : "113"). For several \(noun)s add a rule: "
                + "\(PrintedCommand("rule add KEY --bundle \(bundle.shellWord) \(several) --link store --lockout --enable --title TITLE --text TEXT"))"
        )
    }

    /// A key that no rule has or had, as clients remember keys.
    private func unusedKey(for names: [String?], unlike used: [String]) -> String {
        let name = (["block"] + names).compactMap(\.self).joined(separator: "-").lowercased()
        let key = String(name.prefix(58).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" })
        return ([key] + (2...(used.count + 2)).map { "\(key)-\($0)" }).first { !used.contains($0) } ?? key
    }

    /// Withdrawn releases do not count, and those to come do.
    private func requireWayOut(
        from version: AppVersion,
        _ build: AppVersion?,
        called name: String,
        _ session: PostgresSession,
        at now: Timestamp
    ) throws {
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        let links = policy.apps.flatMap(\.storeLinks).map(\.platform)
        let chosen = platforms.map { Platform($0).name }
        let known = Set(chosen.isEmpty ? policy.releases.map(\.platform) + links : chosen).sorted()
        let releases = policy.releases.filter { $0.withdrawnAt.map { now < $0 } ?? true }
        let open = Set(releases.filter { $0.isAbove(version, build: build) }.map(\.platform)).intersection(known)
        let (app, isClosed) = (bundle.shellWord, open.isEmpty)
        var faults: [(String, String)] = []
        for one in known.isEmpty ? [nil] : known.map(Optional.some) {
            let (place, platform) = (one ?? "any platform", one?.shellWord ?? "PLATFORM")
            let rows = releases.filter { $0.platform == one }
            let isUnbuilt = { (row: Release) in row.build == nil && AppVersion(row.version) == version }
            if isClosed, build != nil, let same = rows.first(where: isUnbuilt)?.version {
                let fault = "Release \(same) on \(place) has no build, so it may be \(name). If it is another:"
                faults.append((fault, "release edit \(app) \(same.shellWord) --platform \(platform) --set-build BUILD"))
            } else if isClosed {
                let usual = one.map { Platform.wellKnown.contains($0) ? [] : Platform.wellKnown } ?? []
                let meant = SimilarNames.of(place, among: usual).first.map { "; did you mean --platform \($0)?" } ?? "."
                let newest =
                    rows.max { $0.isLess(than: $1) ?? false }
                    .map { "; the newest is \($0.version)\($0.build.map { " (\($0))" } ?? "")." } ?? meant
                let fault =
                    "No release above \(name) is recorded on \(place) for users to update to (withdrawn ones are ignored)\(newest)"
                faults.append(
                    ("\(fault) Once users can get a newer one:", "release add \(app) VERSION --platform \(platform)"))
            }
            if link == Rule.storeLink, !links.contains(place), open.contains(place) || isClosed {
                let fault = "\(bundle) has no store link for \(place), so the locked screen has no button there."
                let cure = "Add one, or name another link with --link https://...:"
                faults.append(("\(fault) \(cure)", "app edit \(app) --store-link \(platform)=https://..."))
            }
        }
        let text = faults.map { "\n- \($0)\n    \(PrintedCommand($1))" }.joined()
        if !text.isEmpty { throw CommandError("\(name) is not blocked yet; nothing was changed:\(text)") }
    }
}
