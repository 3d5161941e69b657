import UpdatePolicy

extension Policy {
    /// Adds a row behind the others of its table.
    mutating func append(_ row: PolicyScript.Row) {
        switch row {
        case .app(var app):
            app.storeLinks = []
            app.feedTemplates = []
            apps.append(app)
        case .link(let link, let bundle):
            apps.changeFirst(where: { $0.bundle == bundle }) { $0.storeLinks.append(link) }
        case .template(let template, let bundle):
            apps.changeFirst(where: { $0.bundle == bundle }) { $0.feedTemplates.append(template) }
        case .release(var release):
            release.notes = []
            releases.append(release)
        case .note(let note, let place):
            if releases.indices.contains(place) { releases[place].notes.append(note) }
        case .rule(var rule):
            rule.texts = []
            rule.steps = []
            rule.heldAt = nil
            rules.append(rule)
        case .text(let text, let key):
            rules.changeFirst(where: { $0.key == key }) { $0.texts.append(text) }
        case .step(let step, let key):
            rules.changeFirst(where: { $0.key == key }) {
                $0.steps.append(step)
                $0.rollout = .zero
            }
        case .hold(let time, let key):
            rules.changeFirst(where: { $0.key == key }) { $0.heldAt = time }
        }
    }
}

extension Array {
    fileprivate mutating func changeFirst(where isIt: (Element) -> Bool, _ change: (inout Element) -> Void) {
        if let index = firstIndex(where: isIt) { change(&self[index]) }
    }
}
