internal import PolystoreStorage

/// A counter that checks the limit of an operation only once in a number of steps, because a check takes longer than a step.
final class WorkMeter {
    private static let stepsPerLook: UInt32 = 256

    private let limit: WorkLimit?
    @exclusivity(unchecked) private var steps: UInt32 = 0

    init(_ limit: WorkLimit?) { self.limit = limit }

    /// Counts a step, such as reading a row.
    ///
    /// - Throws: `cancelled` or `timeout` when the limit has ended.
    @inline(__always)
    func step() throws(StorageError) {
        steps &+= 1
        if steps % Self.stepsPerLook == 0 { try check() }
    }

    @inline(never)
    func check() throws(StorageError) { try limit?.check() }
}
