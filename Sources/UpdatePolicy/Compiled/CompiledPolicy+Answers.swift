// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// The messages for a client at a time, in order.
    public func messages(for client: borrowing Client, at time: Timestamp) -> [Message] {
        let app = app(of: client)
        return sentRules(client, app, at: time.microsecondsSince1970).map { sent in
            let rule = policy.rules[sent.index]
            let place = textPlace(rules[sent.index], client)
            let title = place == 0 ? rule.title : rule.texts[place - 1].title
            let text = place == 0 ? rule.text : rule.texts[place - 1].text
            let name = displayName(app, client)
            return Message(
                id: rule.key,
                title: TextTemplate.filled(title, app: name, target: rule.target),
                text: TextTemplate.filled(text, app: name, target: rule.target),
                link: link(of: sent.index, client, app),
                lockout: sent.lockout
            )
        }
    }

    /// Appends the answer to a check, a JSON object, to `bytes`.
    ///
    /// The members of a message are written in the order id, title, text, link, lockout, and only what JSON requires is
    /// escaped.
    ///
    /// - Returns: What was sent, for counting.
    @discardableResult
    public func writeAnswer(
        for client: borrowing Client,
        at time: Timestamp,
        shape: AnswerShape,
        into bytes: inout [UInt8]
    ) -> AnswerSummary {
        let app = app(of: client)
        let sent = sentRules(client, app, at: time.microsecondsSince1970)
        let bundle = app.flatMap { $0.isListed ? $0.bundle : nil }
        if sent.isEmpty, shape == .legacy {
            bytes += MessageBytes.emptyLegacyAnswer
            return AnswerSummary(bundle: bundle, sent: sent)
        }
        bytes += MessageBytes.opening
        for (place, rule) in sent.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            write(rule, client, app, shape, &bytes)
        }
        bytes += MessageBytes.closing
        return AnswerSummary(bundle: bundle, sent: sent)
    }

    private func write(
        _ sent: SentRule,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ shape: AnswerShape,
        _ bytes: inout [UInt8]
    ) {
        let rule = rules[sent.index]
        let place = textPlace(rule, client)
        let textName = shape == .legacy ? MessageBytes.legacyTextName : MessageBytes.textName
        if rule.flags.contains(.namesApp) {
            writeNamingApp(policy.rules[sent.index], place, displayName(app, client), textName, &bytes)
        } else {
            let fragment = pools.fragments[rule.fragments.indices.lowerBound + place]
            append(fragment.start..<fragment.split, to: &bytes)
            bytes += textName
            append(fragment.split..<fragment.end, to: &bytes)
        }
        if rule.flags.contains(.linksToStore) {
            if let link = storeLink(client, app) { bytes += link.bytes }
        } else {
            append(pools.links[sent.index], to: &bytes)
        }
        if sent.lockout { bytes += MessageBytes.lockout }
        bytes.append(UInt8(ascii: "}"))
    }

    private func writeNamingApp(
        _ rule: Rule,
        _ place: Int,
        _ app: String,
        _ textName: [UInt8],
        _ bytes: inout [UInt8]
    ) {
        let title = place == 0 ? rule.title : rule.texts[place - 1].title
        let text = place == 0 ? rule.text : rule.texts[place - 1].text
        let split = MessageBytes.append(
            id: rule.key,
            title: TextTemplate.filled(title, app: app, target: rule.target),
            text: TextTemplate.filled(text, app: app, target: rule.target),
            to: &bytes
        )
        bytes.insert(contentsOf: textName, at: split)
    }

    @inline(__always)
    private func append(_ range: Range<Int>, to bytes: inout [UInt8]) {
        if range.isEmpty { return }
        pools.bytes.withUnsafeBufferPointer { prepared in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: prepared[range]))
        }
    }

    /// The place of the text for the client's language: 0 for the rule's own, else one more than that of a translation.
    @inline(__always)
    private func textPlace(_ rule: CompiledRule, _ client: borrowing Client) -> Int {
        if rule.fragments.count <= 1 { return 0 }
        guard let language = client.language else { return 0 }
        let languages = pools.fragments[rule.fragments.indices].dropFirst().lazy.map { [pools] fragment in
            pools.languages[Int(fragment.language)]
        }
        return language.lookup(in: languages).map { $0 + 1 } ?? 0
    }

    private func displayName(_ app: CompiledApp?, _ client: borrowing Client) -> String {
        app?.displayName ?? client.bundle?.string ?? ""
    }

    private func link(of number: Int, _ client: borrowing Client, _ app: CompiledApp?) -> String? {
        guard rules[number].flags.contains(.linksToStore) else { return policy.rules[number].link }
        return storeLink(client, app)?.link
    }

    private func storeLink(_ client: borrowing Client, _ app: CompiledApp?) -> CompiledApp.Link? {
        guard let app, !app.links.isEmpty else { return nil }
        let platform = platformNumbers.number(of: client.platformText)
        return app.links.first { $0.platform == platform }
    }
}
