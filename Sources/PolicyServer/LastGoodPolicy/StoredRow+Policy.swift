// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension App: StoredRow {
    static let blank = App(bundle: "")

    static let members: [StoredMember<App>] = [
        .required("bundle", \.bundle), .optional("name", \.name), .optional("paused", \.paused),
        .rows("storeLinks", \.storeLinks),
    ]
}

extension StoreLink: StoredRow {
    static let blank = StoreLink(platform: "", link: "")

    static let members: [StoredMember<StoreLink>] = [.required("platform", \.platform), .required("link", \.link)]
}

extension Release: StoredRow {
    static let blank = Release(id: 0, bundle: "", platform: "", version: "")

    static let members: [StoredMember<Release>] = [
        .required("id", \.id), .required("bundle", \.bundle), .required("platform", \.platform),
        .required("version", \.version), .optional("build", \.build), .optional("minOS", \.minOS),
        .optional("regions", \.regions), .optional("liveAt", \.liveAt), .optional("staged", \.staged),
        .optional("withdrawnAt", \.withdrawnAt),
    ]
}

extension Rule: StoredRow {
    static let blank = Rule(key: "", enabled: false, title: "", text: "")

    static let members: [StoredMember<Rule>] = [
        .required("key", \.key), .optional("bundle", \.bundle), .optional("enabled", \.enabled),
        .optional("position", \.position), .optional("versions", \.versions), .optional("builds", \.builds),
        .optional("os", \.os), .optional("platforms", \.platforms), .optional("regions", \.regions),
        .optional("languages", \.languages), .optionalRows("attributes", \.attributes), .optional("target", \.target),
        .optional("soakMicroseconds", \.soakMicroseconds), .optional("rollout", \.rollout),
        .optional("startsAt", \.startsAt), .optional("endsAt", \.endsAt), .required("title", \.title),
        .required("text", \.text), .optional("link", \.link), .optional("lockout", \.lockout),
        .optional("lockoutWithoutUpdate", \.lockoutWithoutUpdate), .optional("final", \.final), .rows("texts", \.texts),
        .rows("steps", \.steps),
    ]
}

extension AttributeCondition: StoredRow {
    static let blank = AttributeCondition(name: "", values: [])

    static let members: [StoredMember<AttributeCondition>] = [.required("name", \.name), .required("values", \.values)]
}

extension RuleText: StoredRow {
    static let blank = RuleText(language: "", title: "", text: "")

    static let members: [StoredMember<RuleText>] = [
        .required("language", \.language), .required("title", \.title), .required("text", \.text),
    ]
}

extension RolloutStep: StoredRow {
    static let blank = RolloutStep(at: Timestamp(microsecondsSince1970: 0), rollout: .zero)

    static let members: [StoredMember<RolloutStep>] = [.required("at", \.at), .required("rollout", \.rollout)]
}
