internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// The options of `polystore transfer` for its speed and memory.
struct TransferPaceOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The maximum number of rows per second, such as 5000, or bytes per second, such as 10MB; can be given twice.",
            valueName: "rows|size"))
    var rate: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The memory for rows that are read and not yet written or committed, such as 64MB. Stores and the program need some more. By \
            default rows are read in batches of 8 MiB, and steps are committed by time alone.
            """, valueName: "size"))
    var memory: String?

    @Option(help: "A file: while it exists, the transfer waits between batches.")
    var throttleFile: String?

    @Option(
        parsing: .unconditional,
        help: """
            The number of threads that copy into a new target, by default one more than processors, at most 5: one reads, and the others \
            write, up to four to PostgreSQL and one to other stores. 1 reads and writes in turn, as do --on-error skip and a copy in one \
            transaction.
            """)
    var workers: Int?

    /// Whether an option is given.
    var isGiven: Bool { !rate.isEmpty || memory != nil || throttleFile != nil || workers != nil }

    /// The number of threads that copy.
    var threads: Int { workers ?? max(2, min(5, ProcessInfo.processInfo.activeProcessorCount + 1)) }

    func validate() throws {
        _ = try pace()
        if let workers, workers < 1 { throw ValidationError("--workers must be at least 1") }
    }

    /// Returns the pace of the transfer.
    func pace() throws -> TransferPace {
        var pace = TransferPace()
        for text in rate {
            if let rows = Double(text) {
                if pace.rowsPerSecond != nil { throw ValidationError("--rate has two numbers of rows per second") }
                pace.rowsPerSecond = rows
            } else {
                if pace.bytesPerSecond != nil { throw ValidationError("--rate has two numbers of bytes per second") }
                pace.bytesPerSecond = try Double(Self.size(text, "--rate", "5000 or 10MB"))
            }
        }
        if let memory {
            let size = try Self.size(memory, "--memory", "64MB")
            if size < 1 << 20 { throw ValidationError("--memory must be at least 1MiB") }
            pace.memoryBytes = size
        }
        for rate in [pace.rowsPerSecond, pace.bytesPerSecond].compactMap({ $0 }) where !(rate > 0 && rate.isFinite) {
            throw ValidationError("--rate must be above 0")
        }
        if let path = throttleFile { pace.isPaused = { access(path, F_OK) == 0 } }
        return pace
    }

    private static let units: [(String, Double)] = [
        ("KiB", 0x1p10), ("MiB", 0x1p20), ("GiB", 0x1p30), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1),
    ]

    /// Returns the number of bytes of a size with a unit.
    private static func size(_ text: String, _ option: String, _ example: String) throws -> Int {
        for (unit, factor) in units where text.lowercased().hasSuffix(unit.lowercased()) {
            let number = text.dropLast(unit.count).reversed().drop { $0 == " " }.reversed()
            guard let value = Double(String(number)), value > 0, value * factor < 0x1p62 else { break }
            return max(1, Int(value * factor))
        }
        throw ValidationError("\(option) '\(text.excerpt())' is not of the form \(example); units are B, KB, MB, GB, KiB, MiB and GiB")
    }
}
