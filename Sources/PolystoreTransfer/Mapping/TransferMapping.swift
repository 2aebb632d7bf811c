public import PolystoreStorage

/// The names and types that the target of a transfer has instead of those of the source.
///
/// Paths name declarations of the source: `Person` is an entity, `Person.age` a property. A property is named with the entity that declares
/// it; subentities inherit its new name and type.
///
/// A value of another type is converted exactly, or the transfer is refused before it writes anything:
/// - Numbers and Booleans keep their number; `true` is 1. A floating-point number and a decimal number are the same number if the latter is
///   the shortest or the full decimal form of the former, so that 0.1 stays 0.1.
/// - A text must be a whole value in the form that `polystore query` prints and `polystore load` reads. Each value can become such a text.
/// - A UUID can become its sixteen bytes, and sixteen bytes a UUID.
///
/// No other types are converted into each other.
public struct TransferMapping: Sendable, Hashable {
    /// The type of an attribute in the target.
    public struct AttributeType: Sendable, Hashable {
        /// The type of the values.
        public var type: ValueType
        /// Whether the attribute becomes optional. An attribute that is optional in the source stays so in any case.
        public var becomesOptional: Bool

        /// Creates the type of an attribute, which by default is optional only if it is so in the source.
        public init(_ type: ValueType, becomesOptional: Bool = false) {
            self.type = type
            self.becomesOptional = becomesOptional
        }

        /// Parses a type as a model names it, followed by `?` if the attribute becomes optional.
        ///
        /// - Throws: `invalidConfiguration`, which names the nearest type.
        package init(parsing text: String) throws(StorageError) {
            let name = text.hasSuffix("?") ? String(text.dropLast()) : text
            guard let type = ValueType(rawValue: name) else {
                let names = ValueType.allCases.map(\.rawValue), near = Suggestion.nearest(name, in: names)
                throw StorageError(
                    .invalidConfiguration,
                    near.isEmpty
                        ? "\"\(name.excerpt())\" is no type; use one of \(names.joined(separator: ", "))"
                        : "\"\(name.excerpt())\" is no type\(near)")
            }
            self.init(type, becomesOptional: text.hasSuffix("?"))
        }

        /// The text from which the type can be parsed.
        var text: String { type.rawValue + (becomesOptional ? "?" : "") }
    }

    /// The new names of entities and properties, by path.
    public var renames: [String: String]
    /// The new types of attributes, by path.
    public var types: [String: AttributeType]

    /// Creates a mapping. Without arguments the target has the model of the source.
    public init(renames: [String: String] = [:], types: [String: AttributeType] = [:]) {
        self.renames = renames
        self.types = types
    }

    /// Whether the target has the model of the source.
    public var isEmpty: Bool { renames.isEmpty && types.isEmpty }

    /// Returns the model that the target must have.
    ///
    /// - Throws: `invalidConfiguration` for a path that names nothing in the source, for new names that collide or are invalid, and for types
    ///   to which the values, the default, or a rule of an attribute cannot be converted.
    /// - Complexity: O(n) in the number of declarations.
    public func schema(for source: Schema) throws(StorageError) -> Schema {
        isEmpty ? source : try MappedModel(self, of: source).schema
    }

    /// A text that identifies the mapping.
    var text: String {
        let names = renames.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return (names + types.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.text)" }).joined(separator: "\n")
    }
}
