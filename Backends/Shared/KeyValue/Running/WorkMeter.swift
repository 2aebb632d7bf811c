internal import PolystoreStorage

/// Looks at the limit of a piece of work every so many steps: asking it each time would take longer than a step.
final class WorkMeter {
    private static let stepsPerLook: UInt32 = 256

    private let limit: WorkLimit?
    @exclusivity(unchecked) private var steps: UInt32 = 0

    init(_ limit: WorkLimit?) { self.limit = limit }

    /// Counts a step, such as a row that was looked at.
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
