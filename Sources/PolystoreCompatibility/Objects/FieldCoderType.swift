public import Foundation
internal import Polystore

/// A coder of the values of a coded field.
public protocol FieldCoderType {
    /// The type of the values.
    associatedtype FieldStoredValue
    /// Encodes a value. A nil result is stored as nil.
    static func encodeToStoredData(_ fieldValue: FieldStoredValue?) -> Data?
    /// Decodes a value. Returns nil for bytes that the coder cannot decode.
    static func decodeFromStoredData(_ data: Data?) -> FieldStoredValue?
}
