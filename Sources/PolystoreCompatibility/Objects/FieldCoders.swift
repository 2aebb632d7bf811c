public import Foundation
internal import Polystore

/// The coders of the library.
public enum FieldCoders {
    /// A coder that uses JSON with sorted keys.
    public enum Json<V: Codable>: FieldCoderType {
        /// Encodes a value as an array with one element.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { fieldValue.flatMap { try? JSONAttributeCoder.encode([$0]) } }
        /// Decodes a value.
        public static func decodeFromStoredData(_ data: Data?) -> V? {
            data.flatMap { try? JSONAttributeCoder.decode([V].self, from: $0) }?.first
        }
    }

    /// A coder that uses binary property lists.
    public enum Plist<V: Codable>: FieldCoderType {
        /// Encodes a value as an array with one element.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? {
            fieldValue.flatMap { try? PropertyListAttributeCoder.encode([$0]) }
        }
        /// Decodes a value.
        public static func decodeFromStoredData(_ data: Data?) -> V? {
            data.flatMap { try? PropertyListAttributeCoder.decode([V].self, from: $0) }?.first
        }
    }
}
