extension CompiledPolicy {
    package func messages(for client: borrowing Client, at time: Timestamp) -> [Message] {
        let app = app(of: client)
        var sent: [SentRule] = []
        appendSentRules(client, app, at: time.microsecondsSince1970, to: &sent)
        var languages = TextLanguages()
        return sent.compactMap { message(of: $0, client, app, &languages) }
    }

    /// The message of a rule of the client's app, or of every app, as the client is sent it.
    func message(
        of sent: SentRule,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ languages: inout TextLanguages
    ) -> Message? {
        guard let group = group(of: sent.id, app) else { return nil }
        let index = Int(sent.id.index)
        let rule = group.rows[index]
        let (title, text) = rule.words(textPlace(of: index, group, client, &languages))
        let name = app?.displayName ?? client.bundle?.string ?? ""
        return Message(
            id: rule.key, title: rule.filled(title, app: name), text: rule.filled(text, app: name),
            link: group.rules[index].flags.contains(.linksToStore) ? storeLink(client, app)?.link : rule.link,
            lockout: sent.lockout && sendsLockouts, until: sent.lockout && sendsLockouts ? rule.until : nil,
            hints: sent.lockout ? nil : rule.hints
        )
    }

    /// Writes the answer to a check, a JSON object, in place of what `answer` holds.
    ///
    /// The members of a message are written in the order id, title, text, link, and then lockout and until, or remind,
    /// shows, skip, target; only what JSON requires is escaped. With the brake on, a lockout has none of the last six.
    package func writeAnswer(
        for client: borrowing Client,
        at time: Timestamp,
        shape: AnswerShape,
        to answer: inout Answer
    ) {
        answer.clear()
        if !sendsLockouts { answer.remarks = .brake }
        let app = app(of: client)
        answer.bundle = app?.listedBundle
        answer.appIndex = app.map { Int32(truncatingIfNeeded: $0.index) } ?? -1
        appendSentRules(client, app, at: time.microsecondsSince1970, to: &answer.sent)
        if answer.sent.isEmpty, shape == .legacy {
            answer.writer.append(MessageBytes.emptyLegacyAnswer)
            return
        }
        answer.writer.append(MessageBytes.opening)
        for index in answer.sent.indices {
            guard let group = group(of: answer.sent[index].id, app) else { continue }
            if index > 0 { answer.writer.append(",") }
            if shape == .standard {
                write(index, of: group, client, app, &answer)
            } else if let message = message(of: answer.sent[index], client, app, &answer.languages) {
                var bytes: [UInt8] = []
                MessageBytes.appendLegacy(message, to: &bytes)
                answer.writer.append(bytes)
            }
            if answer.sent[index].lockout {
                if sendsLockouts { answer.remarks = .lockout } else { answer.sent[index].lockout = false }
            }
            answer.writer.append(MessageBytes.end)
        }
        answer.writer.append(MessageBytes.closing)
    }

    /// Whether any message of an answer is in a translation that was chosen by the client's language.
    package func hasText(of answer: borrowing Answer, for client: borrowing Client) -> Bool {
        let app = app(of: client)
        var languages = TextLanguages()
        for sent in answer.sent {
            guard let group = group(of: sent.id, app) else { continue }
            if textPlace(of: Int(sent.id.index), group, client, &languages) > 0 { return true }
        }
        return false
    }

    package func answer(to client: borrowing Client, at time: Timestamp, shape: AnswerShape = .standard) -> Answer {
        var answer = Answer()
        writeAnswer(for: client, at: time, shape: shape, to: &answer)
        return answer
    }

    /// Writes the message of the rule at a place among those that are sent, as far as it can from what was prepared.
    private func write(
        _ place: Int,
        of group: RuleGroup,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ answer: inout Answer
    ) {
        let sent = answer.sent[place]
        let index = Int(sent.id.index)
        let flags = group.rules[index].flags
        if flags.contains(.namesApp) {
            guard let message = message(of: sent, client, app, &answer.languages) else { return }
            var bytes: [UInt8] = []
            MessageBytes.append(id: message.id, title: message.title, text: message.text, to: &bytes)
            answer.writer.append(bytes)
        } else {
            let place = textPlace(of: index, group, client, &answer.languages)
            group.append(group.message(of: index, place), to: &answer.writer)
        }
        if flags.contains(.linksToStore) {
            if let link = storeLink(client, app) { answer.writer.append(link.bytes) }
        } else {
            group.append(group.pools.tails[index].link, to: &answer.writer)
        }
        if !sent.lockout {
            group.append(group.pools.tails[index].hints, to: &answer.writer)
        } else if sendsLockouts {
            group.append(group.pools.tails[index].lockout, to: &answer.writer)
        }
    }

    /// The place of a rule's text for the client's language, by lookup (RFC 4647, 3.4).
    ///
    /// - Parameter languages: The client's, which are found once for all messages, so that these cost the same however long
    ///   the tag is and however many translations there are.
    @inline(__always)
    func textPlace(
        of index: Int,
        _ group: RuleGroup,
        _ client: borrowing Client,
        _ languages: inout TextLanguages
    ) -> Int {
        if group.rules[index].textLanguages.isEmpty { return 0 }
        if !languages.areFound { find(&languages, client) }
        return group.textPlace(of: index, in: languages.numbers)
    }

    @inline(never)
    private func find(_ languages: inout TextLanguages, _ client: borrowing Client) {
        languages.areFound = true
        languages.numbers.removeAll(keepingCapacity: true)
        client.language?.normalized.withBytes { bytes in
            var end = bytes.count
            while end > 0 {
                let shortened = UnsafeRawBufferPointer(rebasing: bytes[..<end])
                if let number = textLanguages.number(of: shortened) { languages.numbers.append(UInt32(number)) }
                end = LanguageTag.shortened(bytes, end)
            }
        }
    }

    private func storeLink(_ client: borrowing Client, _ app: CompiledApp?) -> CompiledApp.Link? {
        guard let app, !app.links.isEmpty else { return nil }
        let platform = platformNumbers.number(of: client)
        return app.links.first { $0.platform == platform }
    }
}

extension Rule {
    /// Title and text at a place: 0 for the rule's own, else one more than that of a translation.
    fileprivate func words(_ place: Int) -> (title: String, text: String) {
        place == 0 ? (title, text) : (texts[place - 1].title, texts[place - 1].text)
    }
}
