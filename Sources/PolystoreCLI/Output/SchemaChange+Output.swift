internal import PolystoreStorage
internal import PolystoreTransfer

extension SchemaChange {
    /// The change in words, with its effect on stored data.
    var line: String {
        switch effect {
        case .inferred: description
        case .conditional(let rule): "\(description) (if \(rule))"
        case .lossy(let loss): "\(description) (loses \(loss))"
        case .undecided(let question): "\(description) (to be decided: \(question))"
        }
    }

    /// The change as a JSON object.
    var json: String {
        let (name, detail): (String, String?) =
            switch effect {
            case .inferred: ("inferred", nil)
            case .conditional(let rule): ("conditional", rule)
            case .lossy(let loss): ("lossy", loss)
            case .undecided(let question): ("undecided", question)
            }
        return JSONText.object([
            ("path", JSONText.string(path)), ("change", JSONText.string(description)), ("effect", JSONText.string(name)),
            ("detail", JSONText.string(detail)),
        ])
    }
}
