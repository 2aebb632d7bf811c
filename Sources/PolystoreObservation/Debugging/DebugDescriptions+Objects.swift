internal import PolystoreObjects

extension ObjectSnapshot: CustomDebugStringConvertible {
    /// The entity, the primary key, the version, and every value and related object.
    public var debugDescription: String { "ObjectSnapshot of \(text)" }

    /// The description without the name of the type.
    fileprivate var text: String {
        var values = dictionaryForValues().mapValues(\.debugText)
        for name in relationshipNames {
            let objects = (objectIDs(name) ?? []).map { "\($0.key.root) \($0.key.key)" }
            values[name] = isToOne(name) ? objects.first ?? "null" : "[\(objects.joined(separator: ", "))]"
        }
        let lines = values.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
        return (["\(entityName) \(objectID.key.key) version \(version)"] + lines).joined(separator: "\n")
    }
}

extension ObjectID {
    /// The object in the description of a monitor or publisher after its deletion.
    fileprivate var deletedText: String { "\(key.root) \(key.key), which was deleted" }
}

extension ObjectMonitor: CustomDebugStringConvertible {
    /// The object with every value.
    public var debugDescription: String { "ObjectMonitor of \(object?.debugDescription ?? objectID.deletedText)" }
}

extension ObjectPublisher: CustomDebugStringConvertible {
    /// The object with every value and related object.
    public var debugDescription: String { "ObjectPublisher of \(snapshot?.text ?? objectID.deletedText)" }
}

extension ValuePublisher: CustomDebugStringConvertible {
    /// The value, or the error of the last reading.
    public var debugDescription: String {
        let text = error.map { "\($0)" } ?? value.map { String(reflecting: $0) } ?? "no value yet"
        return "ValuePublisher<\(Value.self)>: \(text)"
    }
}
