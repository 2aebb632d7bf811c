/// Where everything that a newer version of a model stores comes from in an older one.
///
/// What follows from the two schemas is there at once; a mapping of a program's own changes single entities of it.
public struct SchemaMapping: Sendable, Hashable {
    /// The older version.
    public let source: Schema
    /// The newer version.
    public let destination: Schema
    /// Which objects become which. Objects of a concrete entity that is the source of none are left behind.
    public var entities: [EntityMapping]
    /// Where the pairs of each link table of the newer version come from.
    public var links: [LinkSource]
    let direction: Renames.Direction

    /// The mapping that follows from two schemas: declarations are followed from their `originalName`, otherwise from their name.
    public init(from source: Schema, to destination: Schema) { self.init(from: source, to: destination, .forward) }

    /// The mapping back to the version before one, the destination being the version that `newer` once followed.
    ///
    /// What `newer` had renamed goes back to its original name: the names of both are followed as on the way there, in reverse. The older
    /// version itself, which cannot know a later name, stays as it was. What only `newer` has is lost, as if an update had removed it.
    public init(from newer: Schema, backTo older: Schema) { self.init(from: newer, to: older, .back) }

    private init(from source: Schema, to destination: Schema, _ direction: Renames.Direction) {
        self.source = source
        self.destination = destination
        self.direction = direction
        let names = Renames(
            from: source.entities.map { ($0.name, $0.originalName) }, to: destination.entities.map { ($0.name, $0.originalName) },
            direction)
        entities = source.descriptions.compactMap { before in
            guard !before.isAbstract, let after = names.successors[before.name].flatMap(destination.index(of:)),
                !destination[after].isAbstract
            else { return nil }
            return EntityMapping(from: before, source, to: destination[after], destination, direction)
        }
        links = []
        settle()
    }

    /// Everything in which what the destination stores differs from the source, entity by entity, with the names followed as here.
    public var changes: [SchemaChange] { SchemaComparison.changes(from: source, to: destination, direction) }

    /// The mappings of an entity of the older version.
    public func mappings(of entity: EntityIndex) -> [EntityMapping] { entities.filter { $0.source == entity } }

    /// The roots of the older version whose objects become objects of a hierarchy of the newer one, in their order.
    public func origins(ofRoot root: EntityIndex) -> [EntityIndex] {
        Set(entities.filter { destination[$0.destination].root == root }.map { source[$0.source].root }).sorted()
    }
}

/// What the objects of an entity become in the next version.
public struct EntityMapping: Sendable, Hashable {
    /// The entity in the older version.
    public let source: EntityIndex
    /// The entity in the newer version.
    public let destination: EntityIndex
    /// Where the value of each slot of the destination comes from.
    public var slots: [SlotSource]

    /// The mapping that follows from the two descriptions.
    public init(from before: EntityDescription, _ old: Schema, to after: EntityDescription, _ new: Schema) {
        self.init(from: before, old, to: after, new, .forward)
    }

    init(from before: EntityDescription, _ old: Schema, to after: EntityDescription, _ new: Schema, _ direction: Renames.Direction) {
        source = before.index
        destination = after.index
        let names = Renames(from: Self.properties(before.index, old), to: Self.properties(after.index, new), direction)
        slots = after.slots.map { slot in
            let fallback = slot.attribute?.defaultValue ?? .null
            guard let origin = names.origins[slot.name].flatMap(before.slot),
                Self.goesOver(before.slots[origin].content, slot.content)
            else { return .value(fallback) }
            let mayBeNil = before.slots[origin].attribute?.isOptional == true && slot.attribute?.isOptional == false
            return .slot(origin, ifNil: mayBeNil ? fallback : .null)
        }
    }

    /// The properties with the inherited ones, in declaration order.
    static func properties(_ index: EntityIndex, _ schema: Schema) -> [Renames.Declaration] {
        var result: [Renames.Declaration] = []
        var next: EntityIndex? = index
        while let current = next {
            let entity = schema.entities[current]
            result += entity.attributes.map { ($0.name, $0.originalName) } + entity.relationships.map { ($0.name, $0.originalName) }
            next = schema[current].parent
        }
        return result
    }

    private static func goesOver(_ before: Slot.Content, _ after: Slot.Content) -> Bool {
        switch (before, after) {
        case (.attribute(let before), .attribute(let after)):
            before.coder == after.coder && (before.type == after.type || before.type.canBecome(after.type))
        case (.toOne, .toOne): true
        case (.attribute, .toOne), (.toOne, .attribute): false
        }
    }
}

/// Where the value of a slot comes from.
public enum SlotSource: Sendable, Hashable {
    /// The same for all objects: the default of what is new, or nil.
    case value(Value)
    /// A slot of the older version; where it is nil, the value beside it.
    case slot(Int, ifNil: Value)
}

/// Where the pairs of a link table come from.
public enum LinkSource: Sendable, Hashable {
    /// There are none.
    case none
    /// Those of a link table of the older version, with their sides exchanged where it is flipped.
    case link(Int, isFlipped: Bool)
    /// An object of the older version and the one that its to-one relationship leads to; the former is the owner unless it is flipped.
    case slot(EntityIndex, Int, isFlipped: Bool)
}

extension ValueType {
    /// The types that hold every value of this one exactly.
    public var wider: [ValueType] {
        switch self {
        case .int16: [.int32, .int64, .float, .double, .decimal]
        case .int32: [.int64, .double, .decimal]
        case .int64: [.decimal]
        case .float: [.double]
        case .url: [.string]
        case .bool, .double, .decimal, .string, .date, .uuid, .data: []
        }
    }

    /// The types that hold some values of this one exactly, so that only the values tell.
    var narrower: [ValueType] {
        switch self {
        case .int32: [.int16]
        case .int64: [.int16, .int32]
        case .int16, .float, .url, .bool, .double, .decimal, .string, .date, .uuid, .data: []
        }
    }

    /// Whether values of this type go over to another as they are, perhaps not all of them.
    func canBecome(_ other: ValueType) -> Bool { wider.contains(other) || narrower.contains(other) }
}
