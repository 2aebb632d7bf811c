/// The tables that a transfer makes as a person would declare them in SQL.
public struct TransferTables: Sendable {
    /// The statements that make the tables, in their order. They can be run in the command line program of the engine.
    public let statements: [String]
    /// The rules of the model that the tables do not enforce, one sentence each.
    public let notes: [String]
    /// The reasons that prevent the transfer, one sentence each; empty if nothing is known that does.
    public let refusals: [String]
}
