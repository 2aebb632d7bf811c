/// The change by which a repair mends a violation.
public struct CheckRepair: Sendable, Hashable, CustomStringConvertible {
    /// The consent that a change needs because it removes data.
    public enum Consent: Sendable, Hashable {
        /// Objects that break a rule of the model are deleted (`RepairOptions.deletesBroken`).
        case deletingBroken
        /// Data that cannot be decoded are removed (`RepairOptions.removesUnreadable`).
        case removingUnreadable
    }

    /// The action of the repair: a verb in the third person with its object.
    public let description: String
    /// The consent that the change needs; nil for a change that removes no data.
    public let consent: Consent?
}
