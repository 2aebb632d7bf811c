/// What is wrong with a schema or a model file, and where.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The model file; nil when the schema did not come from one of several files.
    public var file: String?
    /// The line of the model file, counted from 1; nil when the schema did not come from text.
    public var line: Int?
    /// The place in the schema, such as `Dog.owner`.
    public var path: String
    /// What is wrong and the nearest right thing.
    public var message: String

    /// An error at a place.
    public init(_ path: String, _ message: String, file: String? = nil, line: Int? = nil) {
        self.file = file
        self.path = path
        self.message = message.excerpt(ErrorText.longestMessage)
        self.line = line
    }

    /// File, line, path and message in one sentence.
    public var description: String {
        let place = [file, line.map { "line \($0)" }].compactMap { $0 }.joined(separator: ", ")
        return (place.isEmpty ? "" : "\(place): ") + (path.isEmpty ? "" : "\(path.excerpt(ErrorText.longestPath)): ") + message
    }
}
