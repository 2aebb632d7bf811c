internal import PolystoreFoundation
internal import PolystoreObjects

/// The debug descriptions of lists for `print`, `po` and logs. Those of monitors and publishers of an object contain attribute values and
/// must be shown only to people who may see these.

extension ListContents {
    /// The greatest number of objects that are listed.
    private static var most: Int { 20 }

    /// The number of objects, then a line with the keys of each section, preceded by its name.
    fileprivate var text: String {
        var lines = ["\(items.count) object\(items.count == 1 ? "" : "s")"], start = 0
        for section in sections {
            let keys = items[start..<start + min(section.count, Self.most)].map { String($0.key) }
            let list = (keys + (section.count > Self.most ? ["…"] : [])).joined(separator: ", ")
            if sections.count > 1 || !section.name.isEmpty {
                lines.append("  \"\(section.name)\": \(list)")
            } else if !list.isEmpty {
                lines.append("  \(list)")
            }
            start += section.count
        }
        return lines.joined(separator: "\n")
    }
}

extension ListSnapshot: CustomDebugStringConvertible {
    /// The number of objects, and their keys by section.
    public var debugDescription: String { "ListSnapshot<\(Object.self)>: \(contents.text)" }
}

extension ListMonitor: CustomDebugStringConvertible {
    /// The request, the number of objects, and their keys by section.
    public var debugDescription: String { "ListMonitor of \(from.debugDescription): \(engine.contents.text)" }
}

extension ListPublisher: CustomDebugStringConvertible {
    /// The number of objects, and their keys by section.
    public var debugDescription: String { "ListPublisher<\(Object.self)>: \(snapshot.contents.text)" }
}

extension SectionBy: CustomDebugStringConvertible {
    /// The property.
    public var debugDescription: String { "SectionBy<\(Object.self)>(\(problem?.description ?? name))" }
}

extension ListChanges: CustomDebugStringConvertible {
    /// The index paths of the changed items and the positions of the changed sections.
    public var debugDescription: String {
        let parts = [
            ("deleted sections", deletedSections.map { "\($0)" }), ("inserted sections", insertedSections.map { "\($0)" }),
            ("deleted", deleted.map(\.text)), ("inserted", inserted.map(\.text)),
            ("moved", moved.map { "\($0.from.text) to \($0.to.text)" }),
            ("updated", updated.map(\.text)),
        ]
        let texts = parts.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: ", "))" }
        return "ListChanges: \(texts.isEmpty ? "none" : texts.joined(separator: "; "))"
    }
}

extension IndexPath {
    /// The indexes, such as `0-2`.
    fileprivate var text: String { map(String.init).joined(separator: "-") }
}
