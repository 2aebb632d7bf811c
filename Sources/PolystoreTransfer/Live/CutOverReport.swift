/// The result of a cut-over.
public struct CutOverReport: Sendable {
    /// The digests of all hierarchies and link tables that were compared while the source was fenced; empty if nothing was compared.
    public internal(set) var verified: [TransferItem] = []
    /// The number of transactions that were carried over while the source was fenced.
    public internal(set) var drained = 0
    /// The time for which transactions of the source were refused before the target replaced it.
    public internal(set) var pause = Duration.zero

    init() {}
}
