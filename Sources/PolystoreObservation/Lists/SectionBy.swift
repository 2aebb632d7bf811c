internal import PolystoreFoundation
public import PolystoreObjects

/// The definition of the sections of a list: objects with the same value of a property form a section.
/// ```swift
/// context.monitorSectionedList(From<Person>().orderBy(.ascending(\.age), .ascending(\.name)), sectionBy: SectionBy(\.age) { "\($0) years old" })
/// ```
/// The order of the list must begin with the property, so that sections stay together.
public struct SectionBy<Object: ManagedObject>: Sendable {
    let order: OrderBy<Object>
    let name: String
    let problem: StorageError?
    private let title: @Sendable (String) -> String
    /// A closure that returns the title of a section in an index beside the list, for its name; nil for the first letter of its title.
    package var indexTitle: (@Sendable (String) -> String?)?

    /// Creates sections by the value of a property. Nil belongs to a section without a name, together with empty texts.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - title: A closure that returns the title of a section for its name, which is the text of the value.
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

    /// Creates sections by the value of a property, given by its stored name.
    public init(_ name: String, title: @escaping @Sendable (String) -> String = { $0 }) {
        order = .ascending(name)
        self.name = name
        self.title = title
        problem = nil
    }

    /// Returns the title of the section with a name.
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
    /// Returns a request for all objects of the entity of another request.
    func copyingEntity(of other: From) -> From {
        var copy = self
        copy.entityName = other.entityName
        return copy
    }
}
