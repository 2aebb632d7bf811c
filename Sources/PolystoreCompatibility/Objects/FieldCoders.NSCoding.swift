public import Foundation
internal import Polystore

extension FieldCoders {
    #if canImport(ObjectiveC)
    /// A coder that archives objects of Foundation and of a program's own classes. Bytes that are no archive of the class are decoded as nil.
    public enum NSCoding<V: NSObject & Foundation.NSCoding>: FieldCoderType {
        private static var isSecure: Bool { (V.self as? any NSSecureCoding.Type)?.supportsSecureCoding ?? false }

        /// Archives an object, securely if its class supports that.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? {
            fieldValue.flatMap { try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: isSecure) }
        }

        /// Decodes an object.
        public static func decodeFromStoredData(_ data: Data?) -> V? {
            data.flatMap { try? NSKeyedUnarchiver.unarchivedObject(ofClass: V.self, from: $0) }
        }
    }
    #else
    /// The coder of archived objects in CoreStore, which only Apple's platforms have.
    ///
    /// Foundation's unarchiver of other platforms ends the process for damaged bytes, and for an object of a class that it does not expect,
    /// so that the bytes of a store could end a program. `Json` and `Plist` code `Codable` values; a type that conforms to `FieldCoderType`
    /// can code other ones.
    @available(
        *, unavailable,
        message: "damaged bytes would end the process on this platform; use FieldCoders.Json or Plist, or a FieldCoderType of your own"
    )
    public enum NSCoding<V: NSObject & Foundation.NSCoding>: FieldCoderType {
        /// Returns nil.
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { nil }
        /// Returns nil.
        public static func decodeFromStoredData(_ data: Data?) -> V? { nil }
    }
    #endif
}
