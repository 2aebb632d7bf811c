extension StorageError: CustomDebugStringConvertible {
    /// The code, the message, all known details, conflicts with their values, and the cause. The text contains stored values; show it only
    /// to readers who may see them.
    public var debugDescription: String {
        var lines = [description]
        if let entity = details.entity { lines.append("  entity: \(entity)") }
        if let property = details.property { lines.append("  property: \(property)") }
        if let constraint = details.constraint { lines.append("  constraint: \(constraint)") }
        if !details.keys.isEmpty { lines.append("  keys: \(details.keys.map(String.init).joined(separator: ", "))") }
        lines += details.failures.map { "  failure: \($0) (key \($0.key))" }
        for conflict in details.conflicts {
            lines.append("  conflict: \(conflict.entity) \(conflict.key)")
            lines.append("    base: \(conflict.base)")
            lines.append("    mine: \(conflict.mine.map { "\($0)" } ?? "deleted")")
            lines.append("    theirs: \(conflict.theirs.map { "\($0)" } ?? "deleted")")
        }
        if let cause { lines.append("  cause: \(String(reflecting: cause))") }
        return lines.joined(separator: "\n")
    }
}
