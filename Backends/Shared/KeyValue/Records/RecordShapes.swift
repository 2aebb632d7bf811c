internal import PolystoreStorage

/// The kinds of each entity's slots, in plain memory: retaining an array for each record would cost a tenth of reading it.
///
/// Unchecked: the memory is filled once by `init` and freed by `deinit`.
final class RecordShapes: @unchecked Sendable {
    private let shapes: UnsafeMutableBufferPointer<UnsafeBufferPointer<CellKind>>

    init(_ kinds: [[CellKind]]) {
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
    }

    /// The kinds of an entity's slots.
    @inline(__always)
    subscript(_ entity: EntityIndex) -> UnsafeBufferPointer<CellKind> { shapes[entity] }
}
