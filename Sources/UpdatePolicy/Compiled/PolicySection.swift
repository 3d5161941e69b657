// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The part of a compiled policy that is about one app, or about every app.
///
/// Policies share the sections in which they do not differ, so whoever keeps what was made of a section can tell whether
/// it still holds.
public struct PolicySection: Sendable {
    /// What the section was compiled to; the same object in policies that share it.
    private let compiled: any AnyObject & Sendable

    /// The app's row, if it has one.
    public let app: App?
    /// The rows of the app's releases.
    public let releases: [Release]
    /// The rules, in the order of their messages.
    public let rules: [Rule]

    init(_ app: CompiledApp) {
        compiled = app
        self.app = app.row
        releases = app.releaseRows
        rules = app.rules?.rows ?? []
    }

    init(_ group: RuleGroup) {
        compiled = group
        app = nil
        releases = []
        rules = group.rows
    }

    /// What tells the section apart from others for as long as one of the policies that share it lives.
    public var id: ObjectIdentifier { ObjectIdentifier(compiled) }
}

extension CompiledPolicy {
    /// All sections that hold anything, in an order that stays from one policy to the next.
    public var sections: [PolicySection] {
        let ofApps = apps.filter { $0.row != nil || !$0.releaseRows.isEmpty || $0.rules != nil }
        return ofApps.map { PolicySection($0) } + (rulesForEveryApp.map { [PolicySection($0)] } ?? [])
    }
}
