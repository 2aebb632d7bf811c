internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// The options of `polystore transfer` for rows that the target cannot take.
struct TransferErrorOptions: ParsableArguments {
    /// The treatment of such a row.
    enum Treatment: String, ExpressibleByArgument, CaseIterable {
        case stop, skip
    }

    /// The number of rows that are left out by default.
    private static let usualErrors = 1000

    @Option(
        help: """
            What happens to a row that the target cannot take: stop ends the transfer; skip leaves it out, and rows that must refer to it, and \
            makes other references to it nil.
            """)
    var onError = Treatment.stop

    @Option(
        help: """
            With --on-error skip: the file for the rows that are left out, with the reasons, in JSON lines. Corrected, polystore load reads it.
            """)
    var rejects: String?

    @Option(parsing: .unconditional, help: "With --on-error skip: the number of rows above which the transfer ends, 1000 by default.")
    var maxErrors: Int?

    func validate() throws {
        if onError == .stop, rejects != nil || maxErrors != nil {
            throw ValidationError("--rejects and --max-errors are for a transfer with --on-error skip")
        }
        if let maxErrors, maxErrors < 1 { throw ValidationError("--max-errors must be at least 1") }
    }

    /// The treatment of rows that the target cannot take.
    var treatment: TransferOptions.ErrorTreatment {
        switch onError {
        case .stop: .stop
        case .skip: .skip(most: maxErrors ?? Self.usualErrors)
        }
    }
}
