internal import PolystoreStorage

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    /// A diagnostic for an enum that lacks the conformance to `CaseIterable`.
    @available(*, unavailable, message: "an enum must also conform to CaseIterable: enum Size: String, AttributeValue, CaseIterable")
    public static var placeholder: Self { ManagedObject._broken() }
}
