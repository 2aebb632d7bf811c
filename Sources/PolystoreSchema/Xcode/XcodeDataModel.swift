public import PolystoreFoundation

/// A data model created in Xcode: a folder `X.xcdatamodeld` with versions, or a single `X.xcdatamodel`.
///
/// The initialiser lists the folder, but a version is read only when it is requested, so that an old version that cannot be read causes no
/// error. Declarations that Core Data does not store are skipped (``Version/leftOut``); declarations that Core Data stores and Polystore
/// does not support are errors with file and line. Files may be untrusted: they are read within limits, and no file that they name is
/// opened.
public struct XcodeDataModel: Sendable {
    /// One version of a model.
    public struct Version: Sendable, Hashable {
        /// The name, such as `Shop 2`.
        public let name: String
        /// The schema that the version declares. Its version name is `name`.
        public let schema: Schema
        /// The declarations of which nothing is stored, such as `transient attribute Person.age`: transient and fetched properties,
        /// fetch requests, and user info (`user info Person.age`; `user info` is that of the model).
        public let leftOut: [String]
        /// The attributes, such as `Person.photo`, whose bytes Core Data may store in separate files.
        public let outsideData: Set<String>
    }

    /// The names of the versions, with numbers in the names in numeric order.
    public let versions: [String]
    /// The name of the current version, or nil if the folder does not specify it.
    public let current: String?

    private let files: [String: URL]

    /// Opens the model at a URL.
    ///
    /// - Throws: `SchemaError` if there is no model.
    public init(contentsOf url: URL) throws(SchemaError) {
        switch url.pathExtension {
        case "xcdatamodel":
            let name = url.deletingPathExtension().lastPathComponent
            files = [name: url]
            current = name
        case "xcdatamodeld":
            files = try XcodeModelFile.versions(in: url)
            current = try XcodeModelFile.current(in: url, Array(files.keys))
        default:
            throw SchemaError("", "not an Xcode data model; X.xcdatamodeld or X.xcdatamodel is expected", file: url.relativePath)
        }
        versions = files.keys.map(NumberedName.init).sorted().map(\.name)
    }

    /// Reads the version with a name, by default the current version or the only one.
    ///
    /// - Throws: `SchemaError` with file and line if there is no such version or if it cannot be read.
    public func version(_ name: String? = nil) throws(SchemaError) -> Version {
        guard let chosen = name ?? current ?? (versions.count == 1 ? versions[0] : nil) else {
            throw SchemaError("", "the model has no current version; choose one of \(list)")
        }
        guard let file = files[chosen]?.appendingPathComponent("contents") else {
            throw SchemaError(
                "", "the model has no version \"\(chosen.excerpt())\"; its versions are \(list)\(Suggestion.nearest(chosen, in: versions))")
        }
        let text = try XcodeModelFile.text(file)
        return try XcodeModelFile.located(file) { () throws(SchemaError) in try XcodeModelReader.version(text, chosen) }
    }

    private var list: String { versions.map { "\"\($0)\"" }.joined(separator: ", ") }
}

extension Schema {
    /// Reads the current version of an Xcode data model (``XcodeDataModel``).
    ///
    /// - Throws: `SchemaError` with file and line.
    public init(xcodeModel url: URL) throws(SchemaError) { self = try XcodeDataModel(contentsOf: url).version().schema }
}
