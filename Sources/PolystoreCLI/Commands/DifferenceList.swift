internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// Prints the objects that differ between two stores.
struct DifferenceList {
    /// The maximum number of objects to print, or nil for all.
    let limit: Int?
    let isJSON: Bool
    /// Whether no progress is shown.
    let isQuiet: Bool

    /// Prints the differences of two stores. Returns whether there are any.
    func show(_ a: Stores.Opened, _ b: Stores.Opened) throws(StorageError) -> Bool {
        var count = 0, buffer = Data()
        let engine = TransferEngine(limit: Interruption.limit)
        try ProgressLine.follow(isQuiet: isQuiet) { report throws(StorageError) in
            try engine.differences(between: a.store, and: b.store, report: report) { difference throws(StorageError) in
                count += 1
                if let limit, count > limit { return }
                buffer += Data((line(difference) + "\n").utf8)
                if buffer.count > 1 << 16 {
                    try Console.write(buffer)
                    buffer.removeAll(keepingCapacity: true)
                }
            }
        }
        try Console.write(buffer)
        if let limit, count > limit, !isJSON { Console.print("and \(count - limit) more objects") }
        return count > 0
    }

    private func line(_ difference: RowDifference) -> String {
        isJSON ? json(difference) : "\(Self.sign(difference.kind)) \(difference.entity) \(difference.key)\(Self.text(difference.kind))"
    }

    private static func sign(_ kind: RowDifference.Kind) -> String {
        switch kind {
        case .onlyInFirst: TextColor.red("-")
        case .onlyInSecond: TextColor.green("+")
        case .entities, .properties, .members: TextColor.yellow("~")
        }
    }

    private static func text(_ kind: RowDifference.Kind) -> String {
        switch kind {
        case .onlyInFirst, .onlyInSecond: ""
        case .entities(_, let second): ": is a \(second) in the second store"
        case .properties(let properties):
            ": " + properties.map { "\($0.name) \(text($0.first)) → \(text($0.second))" }.joined(separator: ", ")
        case .members(let relationship, let first, let second): ": \(relationship) \(text(first)) → \(text(second))"
        }
    }

    private static func text(_ value: Value) -> String { JSONWriter.write(ValueText.json(value)).excerpt(80) }

    private static func text(_ keys: [Int64]) -> String { "[\(keys.map(String.init).joined(separator: ", "))]".excerpt(80) }

    private func json(_ difference: RowDifference) -> String {
        var members = [("entity", JSONText.string(difference.entity)), ("key", String(difference.key))]
        switch difference.kind {
        case .onlyInFirst: members.append(("only", JSONText.string("first")))
        case .onlyInSecond: members.append(("only", JSONText.string("second")))
        case .entities(_, let second): members.append(("secondEntity", JSONText.string(second)))
        case .properties(let properties):
            let values = properties.map { property in
                (
                    property.name,
                    JSONText.object([
                        ("first", JSONWriter.write(ValueText.json(property.first))),
                        ("second", JSONWriter.write(ValueText.json(property.second))),
                    ])
                )
            }
            members.append(("properties", JSONText.object(values)))
        case .members(let relationship, let first, let second):
            let keys = JSONText.object([
                ("first", JSONText.array(first.map(String.init))), ("second", JSONText.array(second.map(String.init))),
            ])
            members.append(("members", JSONText.object([(relationship, keys)])))
        }
        return JSONText.object(members)
    }
}
