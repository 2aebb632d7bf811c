internal import PolystoreStorage
internal import PolystoreTransfer

/// The JSON of the details of an error.
enum ErrorJSON {
    static func text(_ details: StorageError.Details) -> String {
        var members: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String?) { if let value { members.append((name, value)) } }
        add("entity", details.entity.map(JSONText.string))
        add("property", details.property.map(JSONText.string))
        add("properties", details.properties.isEmpty ? nil : JSONText.array(details.properties.map(JSONText.string)))
        add("constraint", details.constraint.map(JSONText.string))
        add("keys", details.keys.isEmpty ? nil : JSONText.array(details.keys.map(String.init)))
        add("failures", details.failures.isEmpty ? nil : JSONText.array(details.failures.map(failure)))
        return JSONText.object(members)
    }

    private static func failure(_ failure: ValidationFailure) -> String {
        JSONText.object([
            ("entity", JSONText.string(failure.entity)), ("property", JSONText.string(failure.property)), ("key", "\(failure.key)"),
            ("message", JSONText.string(failure.message)),
        ])
    }
}
