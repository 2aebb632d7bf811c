internal import PolystoreStorage

/// The entity and slot kinds that decoding a record requires, in unmanaged memory: retaining an array for each record would add a tenth to
/// the cost of reading it.
///
/// Unchecked: the memory is filled once by `init` and freed by `deinit`.
final class RecordShapes: @unchecked Sendable {
    private let shapes: UnsafeMutableBufferPointer<UnsafeBufferPointer<CellKind>>
    /// The entity of each entity number, -1 where there is none.
    private let entities: UnsafeMutableBufferPointer<EntityIndex>

    init(_ kinds: [[CellKind]], _ numbers: [EntityIndex?]) {
        entities = .allocate(capacity: numbers.count)
        _ = entities.initialize(from: numbers.map { $0 ?? -1 })
        shapes = .allocate(capacity: kinds.count)
        for (entity, list) in kinds.enumerated() {
            let copy = UnsafeMutableBufferPointer<CellKind>.allocate(capacity: list.count)
            _ = copy.initialize(from: list)
            shapes.initializeElement(at: entity, to: UnsafeBufferPointer(copy))
        }
    }

    deinit {
        for shape in shapes { shape.deallocate() }
        shapes.deallocate()
        entities.deallocate()
    }

    /// Returns the entity of a record, or nil when no entity has its number.
    @inline(__always)
    func entity(_ record: UnsafeRawBufferPointer) -> EntityIndex? {
        guard let number = Record.number(record), number >= 0, Int(number) < entities.count else { return nil }
        let entity = entities[Int(number)]
        return entity < 0 ? nil : entity
    }

    /// The kinds of an entity's slots.
    @inline(__always)
    subscript(_ entity: EntityIndex) -> UnsafeBufferPointer<CellKind> { shapes[entity] }
}
