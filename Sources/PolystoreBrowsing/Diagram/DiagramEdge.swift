internal import PolystoreStorage

/// A line of a diagram between two boxes: a relationship with its inverse, or the inheritance of an entity from its parent.
struct DiagramEdge: Hashable {
    /// The end of a line.
    struct End: Hashable {
        let entity: EntityIndex
        /// The relationship whose line the end touches; nil for the head of the box.
        let relationship: String?
        let mark: Mark
    }

    /// The sign at an end.
    enum Mark: Hashable {
        /// At most one object.
        case one
        /// Any number of objects.
        case many
        /// The parent of an inheritance.
        case parent
        case none
    }

    /// The end that is placed on the left where this is possible: the one with one object, or the parent.
    let left: End
    let right: End

    var isInheritance: Bool { left.mark == .parent }

    /// Returns the lines of a schema.
    static func all(_ schema: Schema) -> [DiagramEdge] {
        var edges: [DiagramEdge] = []
        for (index, entity) in schema.entities.enumerated() {
            if let parent = schema[index].parent {
                edges.append(
                    DiagramEdge(
                        left: End(entity: parent, relationship: nil, mark: .parent),
                        right: End(entity: index, relationship: nil, mark: .none)))
            }
            for relationship in entity.relationships {
                guard let description = schema[index].relationship(relationship.name) else { continue }
                if let edge = edge(schema, index, description), !edges.contains(edge) { edges.append(edge) }
            }
        }
        return edges
    }

    private static func edge(_ schema: Schema, _ index: EntityIndex, _ description: RelationshipDescription) -> DiagramEdge? {
        let relationship = description.relationship
        let inverse = relationship.inverse.flatMap { schema[description.destination].relationship($0) }
        // The sign at an end says how many objects there are at that end.
        let own = End(
            entity: index, relationship: relationship.name, mark: inverse.map { mark($0.relationship.cardinality) } ?? .none)
        let other = End(
            entity: inverse?.declaredIn ?? description.destination, relationship: inverse?.relationship.name,
            mark: mark(relationship.cardinality))
        if own.mark == other.mark {
            return (own.entity, relationship.name) <= (other.entity, other.relationship ?? "")
                ? DiagramEdge(left: own, right: other) : DiagramEdge(left: other, right: own)
        }
        return other.mark == .one ? DiagramEdge(left: other, right: own) : DiagramEdge(left: own, right: other)
    }

    private static func mark(_ cardinality: Cardinality) -> Mark { cardinality == .toOne ? .one : .many }
}
