internal import Foundation
internal import PolystoreStorage

/// What the sections of a list are: the objects with the same value of a property.
/// ```swift
/// context.monitorSectionedList(From<Person>().orderBy(.ascending(\.age), .ascending(\.name)), sectionBy: SectionBy(\.age) { "\($0) years old" })
/// ```
/// The order of the list must begin with the property, so that sections stay together.
public struct SectionBy<Object: ManagedObject>: Sendable {
    let order: OrderBy<Object>
    let name: String
    let problem: StorageError?
    private let title: @Sendable (String) -> String

    /// Sections by the value of a property; nil is in a section without a name, where empty texts are, too.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - title: Makes the title of a section from its name, which is the text of the value.
    public init<Property>(_ keyPath: KeyPath<Object, Property>, title: @escaping @Sendable (String) -> String = { $0 }) {
        order = .ascending(keyPath)
        self.title = title
        do throws(StorageError) {
            name = try KeyPathProbe.resolve(keyPath).description
            problem = nil
        } catch {
            name = ""
            problem = error
        }
    }

    /// Sections by the value of a property by its stored name.
    public init(_ name: String, title: @escaping @Sendable (String) -> String = { $0 }) {
        order = .ascending(name)
        self.name = name
        self.title = title
        problem = nil
    }

    /// The title of the section with a name.
    public func title(of name: String) -> String { title(name) }
}

extension Value {
    /// The name of the section of a value: its text, empty for nil.
    var sectionName: String {
        if case .date(let microseconds) = self { return String(microseconds) }
        return switch ValueText.json(self) {
        case .string(let text), .number(let text): text
        case .bool(let value): String(value)
        case .null, .array, .object: ""
        }
    }
}

extension From {
    /// All objects of what another request asks for.
    func copyingEntity(of other: From) -> From {
        var copy = self
        copy.entityName = other.entityName
        return copy
    }
}
