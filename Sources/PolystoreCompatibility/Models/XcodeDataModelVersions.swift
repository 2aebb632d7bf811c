internal import Polystore

/// The versions of an Xcode model: `XcodeDataModelSchema.from(modelName: "Shop") + [newSchema]`.
public struct XcodeDataModelVersions: RandomAccessCollection, Sendable {
    /// The versions, sorted by name with numbers in numeric order.
    public let allSchema: [XcodeDataModelSchema]
    /// The name of the current version.
    public let currentModelVersion: String

    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of versions.
    public var endIndex: Int { allSchema.count }
    /// Returns the version at a position.
    public subscript(position: Int) -> XcodeDataModelSchema { allSchema[position] }

    /// Returns the versions followed by others.
    public static func + (versions: XcodeDataModelVersions, others: [any DynamicSchema]) -> [any DynamicSchema] {
        versions.allSchema + others
    }
}
