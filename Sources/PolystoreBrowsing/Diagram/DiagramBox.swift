internal import PolystoreStorage

/// The box of an entity in a diagram: its own attributes and relationships as lines.
struct DiagramBox {
    struct Line {
        let name: String
        let type: String
        let isRelationship: Bool
        let isRequired: Bool
    }

    let entity: EntityIndex
    let name: String
    let isAbstract: Bool
    private(set) var lines: [Line] = []
    /// The number of attributes that are not shown.
    private(set) var omitted = 0

    static let headHeight = 30.0, lineHeight = 20.0, padding = 7.0
    private static let mostLines = 18, longestName = 28, characterWidth = 6.9

    init(_ schema: Schema, _ index: EntityIndex) {
        let entity = schema.entities[index]
        self.entity = index
        name = Self.cut(entity.name)
        isAbstract = entity.isAbstract
        let relationships = entity.relationships.map { relationship in
            Line(
                name: Self.cut(relationship.name), type: Self.cut(relationship.destination), isRelationship: true,
                isRequired: !relationship.isOptional)
        }
        let attributes = entity.attributes.map { attribute in
            Line(name: Self.cut(attribute.name), type: attribute.type.rawValue, isRelationship: false, isRequired: !attribute.isOptional)
        }
        let room = max(4, Self.mostLines - relationships.count)
        omitted = attributes.count > room ? attributes.count - room + 1 : 0
        lines = attributes.dropLast(omitted) + relationships
    }

    private static func cut(_ text: String) -> String { text.excerpt(longestName) }

    private var lineCount: Int { lines.count + (omitted > 0 ? 1 : 0) }

    var height: Double { Self.headHeight + (lineCount == 0 ? 0 : Double(lineCount) * Self.lineHeight + 2 * Self.padding) }

    var width: Double {
        let longest = lines.map { $0.name.count + $0.type.count + 3 }.max() ?? 0
        return max(150, Double(max(longest, name.count + 4)) * Self.characterWidth + 24)
    }

    /// The number of attributes above the line that stands for those that are not shown.
    private var attributeCount: Int { lines.count { !$0.isRelationship } }

    /// The line that stands for the attributes that are not shown; nil if there are none.
    var omission: (position: Int, text: String)? {
        omitted > 0 ? (attributeCount, "and \(Figures.counted(omitted, "more attribute"))") : nil
    }

    /// Returns the middle of a line, from the top of the box.
    func middle(ofLine index: Int) -> Double {
        let position = omitted > 0 && index >= attributeCount ? index + 1 : index
        return middle(ofPosition: position)
    }

    func middle(ofPosition position: Int) -> Double {
        Self.headHeight + Self.padding + (Double(position) + 0.5) * Self.lineHeight
    }

    /// Returns the middle of a relationship's line, from the top of the box.
    func middle(of relationship: String) -> Double? {
        lines.firstIndex { $0.isRelationship && $0.name == Self.cut(relationship) }.map(middle(ofLine:))
    }
}
