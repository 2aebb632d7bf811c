public import Polystore

extension Value {
    /// The value with its type, so that a test tells 4 from 4.0.
    public var typed: String {
        guard let content = Mirror(reflecting: self).children.first else { return "null" }
        return "\(content.label ?? "")(\(String(reflecting: content.value)))"
    }
}
