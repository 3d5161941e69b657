// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// Asks on the terminal for what a block needs and the database does not know.
enum BlockQuestions {
    /// What a person answers where there is nothing to name.
    private static let none = "-"

    /// The platforms: those that were named, else asked for where the database knows none.
    static func platforms(_ named: [String], _ facts: BlockFacts, _ version: String) throws -> [String] {
        guard named.isEmpty, let version = AppVersion(version), facts.platforms(of: version, nil).isEmpty else {
            return named
        }
        print("No release of \(facts.app.bundle) is recorded, and no check of \(version) was counted.")
        return [try Terminal.answer(to: "Platform (ios, android, macos, ...)") ?? "ios"]
    }

    /// Asks for releases, store links and the message; what was given on the command line is not asked for.
    static func complete(_ block: inout Block, title: String?, text: String?) throws {
        for index in block.places.indices where block.places[index].needsRelease {
            try askForRelease(&block, index)
        }
        if block.places.allSatisfy(\.needsRelease) { return }
        for index in block.places.indices where block.needsLink(block.places[index]) {
            try askForLink(&block, index)
        }
        if !block.faults.isEmpty { return }
        if title == nil, let answer = try Terminal.answer(to: "Title", proposal: block.title) { block.title = answer }
        if text == nil, let answer = try Terminal.answer(to: "Text", proposal: block.text) { block.text = answer }
    }

    private static func askForRelease(_ block: inout Block, _ index: Int) throws {
        let place = block.places[index]
        print("No release above \(block.name) is recorded on \(place.platform), so nobody is locked out there.")
        if let release = place.unbuilt, let blocked = block.build {
            print("Release \(block.version) there has no build, so it may be \(block.name).")
            let proposal = place.candidate?.build
            if let build = try version(
                "Build of \(block.version) that users on \(place.platform) can get now (\(none) for another version)",
                proposal: proposal?.text,
                above: blocked
            ) {
                block.setBuild(build, of: release, at: index)
                return
            }
        } else if let candidate = place.candidate {
            print("\(candidate.share) of the checks there come from \(candidate.label).")
        }
        let question = "Version that users on \(place.platform) can get now (\(none) for none)"
        while let text = try Terminal.answer(to: question, proposal: place.candidate?.version.text), text != none {
            guard let answer = AppVersion(text) else {
                print("\(text.visible()) is not a version; write it as the app reports it, such as 1.2.")
                continue
            }
            if answer == block.version, let blocked = block.build {
                guard
                    let build = try version(
                        "Its build (\(none) for another version)",
                        proposal: place.candidate?.build?.text,
                        above: blocked
                    )
                else { continue }
                return block.addRelease(answer, build: build, at: index)
            }
            let release = Release(id: 0, bundle: "", platform: place.platform, version: text)
            guard release.isAbove(block.version, build: block.build) else {
                print("\(text.visible()) is not above \(block.name), so it is no way out of the lockout.")
                continue
            }
            guard !block.facts.isWithdrawn(answer, nil, on: place.platform) else {
                let bundle = block.facts.app.bundle.shellWord
                print(
                    "\(text.visible()) was withdrawn there. If users can get it again: "
                        + "\(PrintedCommand("release edit \(bundle) \(text.shellWord) --platform \(place.platform.shellWord) --clear withdrawn-at"))"
                )
                continue
            }
            return block.addRelease(answer, build: nil, at: index)
        }
    }

    /// Asks for a build until it is above another; nil: none.
    private static func version(_ question: String, proposal: String?, above least: AppVersion) throws -> AppVersion? {
        while let text = try Terminal.answer(to: question, proposal: proposal), text != none {
            if let answer = AppVersion(text), least < answer { return answer }
            print("\(text.visible()) is not above \(least).")
        }
        return nil
    }

    private static func askForLink(_ block: inout Block, _ index: Int) throws {
        let platform = block.places[index].platform
        print(
            "\(block.facts.app.bundle) has no store link for \(platform), so the locked screen there would have no button."
        )
        while let link = try Terminal.answer(to: "Link to the app in the store (https://...)") {
            if MessageLink.isAllowed(link) { return block.addStoreLink(link, at: index) }
            print("\(link.visible()) is not a link to a store; it begins with https:// or market:, for example.")
        }
    }
}
