/// An error in a schema or a model file, with its location.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The model file, or nil if the schema did not come from one of several files.
    public var file: String?
    /// The line of the model file, counted from 1, or nil if the schema did not come from text.
    public var line: Int?
    /// The path of the declaration in the schema, such as `Dog.owner`.
    public var path: String
    /// A message that states the error and the nearest valid alternative.
    public var message: String

    /// Creates an error at a location.
    public init(_ path: String, _ message: String, file: String? = nil, line: Int? = nil) {
        self.file = file
        self.path = path
        self.message = message.excerpt(ErrorText.longestMessage)
        self.line = line
    }

    /// The file, line, path, and message in one sentence.
    public var description: String {
        let place = [file, line.map { "line \($0)" }].compactMap { $0 }.joined(separator: ", ")
        return (place.isEmpty ? "" : "\(place): ") + (path.isEmpty ? "" : "\(path.excerpt(ErrorText.longestPath)): ") + message
    }
}
