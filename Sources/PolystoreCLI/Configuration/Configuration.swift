internal import Foundation
internal import PolystoreStorage

/// The configuration file of a user: names of stores, and whether output has colours.
///
/// ```
/// [stores]
/// shop = sqlite:/srv/shop.db
/// [output]
/// color = never
/// ```
struct Configuration {
    /// Whether output has colours.
    enum Color: String, CaseIterable {
        case auto, always, never
    }

    /// The URLs of the stores that have names.
    private(set) var stores: [String: String] = [:]
    private(set) var color = Color.auto

    /// The configuration of the user, or the error of its file.
    private static let loaded: Result<Configuration, StorageError> = {
        do throws(StorageError) { return .success(try Configuration(path: path)) } catch { return .failure(error) }
    }()

    /// Returns the configuration of the user, which is empty without a file.
    static func current() throws(StorageError) -> Configuration { try loaded.get() }

    /// The path of the file, which `POLYSTORE_CONFIG` names; none if it is empty.
    static var path: String {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["POLYSTORE_CONFIG"] { return path }
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? (environment["HOME"] ?? "") + "/.config"
        return folder + "/polystore/config"
    }

    init() {}

    /// Reads a file.
    ///
    /// - Throws: `invalidConfiguration` for a line that has no meaning, with its number; `permissionDenied` if other users can read a password.
    private init(path: String) throws(StorageError) {
        var status = stat()
        if path.isEmpty || stat(path, &status) != 0 {
            self.init()
            return
        }
        guard let bytes = FileManager.default.contents(atPath: path), let text = String(data: bytes, encoding: .utf8) else {
            throw StorageError(.permissionDenied, "the configuration file \(path) cannot be read, or is not valid UTF-8")
        }
        do throws(StorageError) { try self.init(text) } catch {
            throw StorageError(error.code, "the configuration file \(path), \(error.message)", cause: error)
        }
        let isShared = status.st_mode & 0o077 != 0
        if isShared, stores.values.contains(where: { text in (try? StoreURL(text)).map { $0.redacted != text } ?? false }) {
            throw StorageError(
                .permissionDenied,
                "the configuration file \(path) contains a password and can be read by other users; use chmod 600 \(path)")
        }
    }

    /// Parses the text of a file.
    init(_ text: String) throws(StorageError) {
        var section = ""
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            func refusal(_ reason: String) -> StorageError { StorageError(.invalidConfiguration, "line \(index + 1): \(reason)") }
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = String(line.dropFirst().dropLast())
                let known = ["stores", "output"]
                if !known.contains(section) { throw refusal("there is no section [\(section)]\(Suggestion.nearest(section, in: known))") }
                continue
            }
            let sides = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else { throw refusal("expected name = value") }
            if sides[1].contains(/\s#/) {
                throw refusal("a comment needs a line of its own; in a URL, # is written as %23")
            }
            switch section {
            case "stores": try add(sides[0], sides[1], refusal)
            case "output": try set(sides[0], sides[1], refusal)
            default: throw refusal("\(sides[0]) is not in a section; [stores] and [output] are known")
            }
        }
    }

    private mutating func add(_ name: String, _ url: String, _ refusal: (String) -> StorageError) throws(StorageError) {
        if url.hasPrefix("@") { throw refusal("\(name) is the name of another name; write the URL") }
        let parsed: StoreURL?
        // A variable need not be set before its store is used.
        do throws(StorageError) { parsed = url.hasPrefix("env:") ? nil : try StoreURL(url) } catch { throw refusal(error.message) }
        if let parsed, StoreURL.fileSchemes.contains(parsed.scheme), !parsed.place.hasPrefix("/") {
            throw refusal("the path of \(name) must be absolute, because commands run in any folder")
        }
        if stores.updateValue(url, forKey: name) != nil { throw refusal("there are two stores of the name \(name)") }
    }

    private mutating func set(_ name: String, _ value: String, _ refusal: (String) -> StorageError) throws(StorageError) {
        guard name == "color" else { throw refusal("[output] has no setting \(name)\(Suggestion.nearest(name, in: ["color"]))") }
        guard let color = Color(rawValue: value) else {
            throw refusal("color is one of \(Color.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.color = color
    }

    /// Returns the URL of a name.
    ///
    /// - Throws: `notFound`, with the most similar name and the path of the file.
    func url(named name: String) throws(StorageError) -> String {
        if let url = stores[name] { return url }
        let near = Suggestion.nearest(name, in: stores.keys.sorted())
        throw StorageError(.notFound, "the configuration file \(Self.path) has no store \"\(name.excerpt())\"\(near)")
    }
}
