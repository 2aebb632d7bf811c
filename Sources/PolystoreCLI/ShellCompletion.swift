internal import ArgumentParser
internal import Foundation
internal import PolystoreCatalog
internal import PolystoreStorage

/// The completions that a shell asks for: stores, and the entities and properties of the store that the command line names.
enum ShellCompletion {
    /// Names of the configuration file, schemes, and files that are databases.
    static let store = CompletionKind.custom { _, _, prefix in stores(prefix) }

    /// The entities of the store.
    static let entity = CompletionKind.custom { words, _, prefix in
        entities(words).filter { $0.hasPrefix(prefix) }
    }

    /// The attributes and relationships of the entity, also along a path.
    static let property = CompletionKind.custom { words, _, prefix in clause("select", words, prefix) }

    /// A condition or a list of expressions over properties.
    static let expression = CompletionKind.custom { words, _, prefix in clause("where", words, unquoted(prefix)) }

    // MARK: Stores

    private static func stores(_ prefix: String) -> [String] {
        let prefix = unquoted(prefix)
        let names = ((try? Configuration.current().stores.keys.sorted()) ?? []).map { "@\($0)" }
        let colon = prefix.firstIndex(of: ":"), scheme = colon.map { String(prefix[...$0]) } ?? ""
        let schemes = colon == nil ? Stores.catalog.schemes.map { "\($0):" } : []
        let path = String(prefix.dropFirst(scheme.count))
        let files =
            scheme.isEmpty || StoreURL.fileSchemes.contains(String(scheme.dropLast())) ? files(path, scheme).map { scheme + $0 } : []
        return (names + schemes).filter { $0.hasPrefix(prefix) } + files
    }

    /// Returns the folders, and the files that are databases, whose paths begin with a text.
    private static func files(_ prefix: String, _ scheme: String) -> [String] {
        let start = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        let last = prefix.dropFirst(start.count)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: start.isEmpty ? "." : start)) ?? []
        return names.filter { $0.hasPrefix(last) && $0.hasPrefix(".") == last.hasPrefix(".") }.sorted().compactMap { name in
            let path = start + name
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
            if isFolder.boolValue { return path + "/" }
            guard let found = try? Stores.catalog.url(for: path).scheme, scheme.isEmpty || "\(found):" == scheme else { return nil }
            return path
        }
    }

    // MARK: Entities and properties

    /// Returns the schema of the first store that the words name; nil if it cannot be opened without a question.
    private static func schema(_ words: [String]) -> (schema: Schema, entity: String?)? {
        guard let tree = try? PolystoreCommand.tree() else { return nil }
        let line = CommandWords(words.dropFirst().map(unquoted), in: tree)
        guard let store = line.arguments.first,
            let opened = try? PasswordQuestion.$isAllowed.withValue(false, operation: { try Stores.open(store) })
        else { return nil }
        defer { opened.close() }
        let entity = line.options.first { $0.name == "--entity" }?.value ?? line.arguments.dropFirst().first
        return (opened.schema, entity)
    }

    private static func entities(_ words: [String]) -> [String] {
        (schema(words)?.schema.entities.map(\.name) ?? []).sorted()
    }

    /// Returns the completions of the last word of a clause, each with the text before it.
    private static func clause(_ clause: String, _ words: [String], _ prefix: String) -> [String] {
        guard let (schema, entity) = schema(words), let entity else { return [] }
        let sign = prefix.hasPrefix("-") ? "-" : "", text = prefix.dropFirst(sign.count)
        let found = PromptCompletion(schema).complete("\(entity) \(clause) \(text)")
        return found.texts.filter { !$0.hasSuffix(" ") }.map { sign + text.dropLast(found.replaced) + $0 }
    }

    /// Returns a word as the program would receive it.
    private static func unquoted(_ word: String) -> String {
        var result = "", quote: Character?, isEscaped = false
        for character in word {
            if isEscaped {
                result.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            } else {
                result.append(character)
            }
        }
        return result
    }
}
