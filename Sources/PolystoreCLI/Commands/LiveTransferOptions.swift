internal import ArgumentParser

/// The options of `polystore transfer` for a source that is in use.
struct LiveTransferOptions: ParsableArguments {
    @Flag(
        help: """
            Copy a store that is in use, and follow its changes until the command is interrupted. The same command continues.
            """)
    var live = false

    @Flag(
        help: """
            With --live: replace the source by the target as soon as little is left to follow. From then on write transactions of the \
            source are refused.
            """)
    var cutOver = false

    @Flag(help: "With --live: accept write transactions of the source again after an interrupted cut-over, and do nothing else.")
    var release = false

    func validate() throws {
        if !live, cutOver || release { throw ValidationError("--cut-over and --release are for a transfer with --live") }
        if cutOver, release { throw ValidationError("--cut-over and --release exclude each other") }
    }
}
