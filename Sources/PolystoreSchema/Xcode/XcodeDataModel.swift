public import Foundation

/// A data model that was drawn in Xcode: a folder `X.xcdatamodeld` with versions, or a single `X.xcdatamodel`.
///
/// The folder is looked through at once, a version is read when it is asked for, so that an old one that cannot be read is in nobody's
/// way. What Core Data does not store is left out (``Version/leftOut``); what it stores and Polystore does not is an error with file and
/// line. Files may come from anywhere: they are read within limits, and nothing that they name is opened.
public struct XcodeDataModel: Sendable {
    /// One version of a model.
    public struct Version: Sendable, Hashable {
        /// The name, such as `Shop 2`.
        public let name: String
        /// What it declares; its version is the name.
        public let schema: Schema
        /// What it has and nothing is stored of, such as `transient attribute Person.age`: transient and fetched properties, fetch
        /// requests.
        public let leftOut: [String]
        /// The attributes, such as `Person.photo`, whose bytes Core Data may keep in files of their own.
        public let outsideData: Set<String>
    }

    /// The names of the versions, numbers in them by their size.
    public let versions: [String]
    /// The name of the current version; nil when the folder does not say which it is.
    public let current: String?

    private let files: [String: URL]

    /// The model at a place.
    ///
    /// - Throws: `SchemaError` when there is none.
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
            throw SchemaError("", "it is no Xcode data model; X.xcdatamodeld or X.xcdatamodel is expected", file: url.relativePath)
        }
        versions = files.keys.sorted { a, b in
            let order = a.compare(b, options: .numeric)
            return order == .orderedSame ? a.compareUTF8(to: b) < 0 : order == .orderedAscending
        }
    }

    /// A version by its name; without one the current version, or the only one.
    ///
    /// - Throws: `SchemaError` with file and line when there is no such version, or when it cannot be read.
    public func version(_ name: String? = nil) throws(SchemaError) -> Version {
        guard let chosen = name ?? current ?? (versions.count == 1 ? versions[0] : nil) else {
            throw SchemaError("", "the model has no current version; name one of \(list)")
        }
        guard let file = files[chosen]?.appendingPathComponent("contents") else {
            throw SchemaError("", "\"\(chosen.excerpt())\" is none of the versions \(list)\(Suggestion.nearest(chosen, in: versions))")
        }
        let text = try XcodeModelFile.text(file)
        return try XcodeModelFile.located(file) { () throws(SchemaError) in try XcodeModelReader.version(text, chosen) }
    }

    private var list: String { versions.map { "\"\($0)\"" }.joined(separator: ", ") }
}

extension Schema {
    /// The current version of an Xcode data model (``XcodeDataModel``).
    ///
    /// - Throws: `SchemaError` with file and line.
    public init(xcodeModel url: URL) throws(SchemaError) { self = try XcodeDataModel(contentsOf: url).version().schema }
}
