internal import PolystoreFoundation

/// Access to the files of an Xcode data model, within limits.
enum XcodeModelFile {
    private static let currentKey = "_XCCurrentVersionName"
    private static let mostVersions = 1000
    private static let mostBytes = 4 << 20

    /// Returns the versions in a folder, by name.
    static func versions(in folder: URL) throws(SchemaError) -> [String: URL] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw SchemaError("", "the folder cannot be read", file: folder.relativePath)
        }
        let found = names.filter { $0.hasSuffix(".xcdatamodel") }
        if found.isEmpty {
            throw SchemaError("", "the folder has no version of the model: X.xcdatamodel is expected in it", file: folder.relativePath)
        }
        if found.count > mostVersions {
            throw SchemaError("", "a model can have at most \(mostVersions) versions", file: folder.relativePath)
        }
        return Dictionary(
            found.map { (name($0), folder.appendingPathComponent($0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the version that `.xccurrentversion` names, or nil if there is no such file.
    static func current(in folder: URL, _ versions: [String]) throws(SchemaError) -> String? {
        let file = folder.appendingPathComponent(".xccurrentversion")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let text = try text(file)
        return try located(file) { () throws(SchemaError) in
            let root = try XMLTagReader.tag(text)
            let items = root.children("dict").first?.children ?? []
            guard let key = items.firstIndex(where: { $0.name == "key" && $0.text == currentKey }), key + 1 < items.count else {
                throw SchemaError("", "\(currentKey) is missing", line: root.line)
            }
            let named = name(String(items[key + 1].text.prefix(250)))
            guard versions.contains(named) else {
                throw SchemaError(
                    "",
                    "the current version \"\(named.excerpt())\" is not in the folder\(Suggestion.nearest(named, in: versions.sorted()))",
                    line: items[key + 1].line)
            }
            return named
        }
    }

    private static func name(_ file: String) -> String { file.hasSuffix(".xcdatamodel") ? String(file.dropLast(12)) : file }

    /// Returns the text of a file.
    static func text(_ file: URL) throws(SchemaError) -> String {
        let path = file.relativePath, data: Data
        do throws(RegularFile.Problem) { data = try RegularFile.data(file.path, atMost: mostBytes) } catch {
            let message =
                switch error {
                case .missing, .folder, .notRegular: "there is no such file; save a model from before Xcode 4 with a newer Xcode first"
                case .unreadable: error.sentence
                case .tooLarge: "a model file can have at most \(mostBytes >> 20) MiB"
                }
            throw SchemaError("", message, file: path)
        }
        guard let text = String(data: data, encoding: .utf8) else { throw SchemaError("", "the file is not UTF-8 text", file: path) }
        return text
    }

    /// Adds the file to the errors that are thrown while its text is processed.
    static func located<T>(_ file: URL, _ work: () throws(SchemaError) -> T) throws(SchemaError) -> T {
        do throws(SchemaError) { return try work() } catch {
            var located = error
            located.file = file.relativePath
            throw located
        }
    }
}
