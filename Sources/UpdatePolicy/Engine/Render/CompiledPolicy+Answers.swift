// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// The messages for a client at a time, in order.
    public func messages(for client: borrowing Client, at time: Timestamp) -> [Message] {
        let app = app(of: client)
        return sentRules(client, app, at: time.microsecondsSince1970).compactMap { sent in
            guard let group = group(of: sent.place, app) else { return nil }
            let number = Int(sent.place.number)
            let rule = group.rows[number]
            let (title, text) = rule.words(group.textPlace(of: number, client))
            let name = displayName(app, client)
            return Message(
                id: rule.key,
                title: TextTemplate.filled(title, app: name, target: rule.target),
                text: TextTemplate.filled(text, app: name, target: rule.target),
                link: group.rules[number].flags.contains(.linksToStore) ? storeLink(client, app)?.link : rule.link,
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
        let bundle = app?.row?.bundle
        if sent.isEmpty, shape == .legacy {
            bytes += MessageBytes.emptyLegacyAnswer
            return AnswerSummary(bundle: bundle, sent: sent)
        }
        bytes += MessageBytes.opening
        for (index, rule) in sent.enumerated() {
            guard let group = group(of: rule.place, app) else { continue }
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(rule, of: group, client, app, shape, &bytes)
        }
        bytes += MessageBytes.closing
        return AnswerSummary(bundle: bundle, sent: sent)
    }

    private func write(
        _ sent: SentRule,
        of group: RuleGroup,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ shape: AnswerShape,
        _ bytes: inout [UInt8]
    ) {
        let number = Int(sent.place.number)
        let flags = group.rules[number].flags
        let textName = shape == .legacy ? MessageBytes.legacyTextName : MessageBytes.textName
        let place = group.textPlace(of: number, client)
        if flags.contains(.namesApp) {
            writeNamingApp(group.rows[number], place, displayName(app, client), textName, &bytes)
        } else {
            group.appendMessage(of: number, place, textName: textName, to: &bytes)
        }
        if flags.contains(.linksToStore) {
            if let link = storeLink(client, app) { bytes += link.bytes }
        } else {
            group.appendLink(of: number, to: &bytes)
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
        let (title, text) = rule.words(place)
        let split = MessageBytes.append(
            id: rule.key,
            title: TextTemplate.filled(title, app: app, target: rule.target),
            text: TextTemplate.filled(text, app: app, target: rule.target),
            to: &bytes
        )
        bytes.insert(contentsOf: textName, at: split)
    }

    private func displayName(_ app: CompiledApp?, _ client: borrowing Client) -> String {
        app?.displayName ?? client.bundle?.string ?? ""
    }

    private func storeLink(_ client: borrowing Client, _ app: CompiledApp?) -> CompiledApp.Link? {
        guard let app, !app.links.isEmpty else { return nil }
        let platform = platformNumbers.number(of: client.platformText)
        return app.links.first { $0.platform == platform }
    }
}

extension Rule {
    /// Title and text at a place: 0 for the rule's own, else one more than that of a translation.
    fileprivate func words(_ place: Int) -> (title: String, text: String) {
        place == 0 ? (title, text) : (texts[place - 1].title, texts[place - 1].text)
    }
}
