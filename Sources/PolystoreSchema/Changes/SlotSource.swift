/// The source of the value of a slot.
package enum SlotSource: Sendable, Hashable {
    /// A value that is the same for all objects: the default of a new attribute, or nil.
    case value(Value)
    /// A slot of the older version, or `ifNil` if the slot is nil.
    case slot(Int, ifNil: Value)
}
