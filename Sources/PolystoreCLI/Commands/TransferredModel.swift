internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// The names and types that the target of a transfer has instead of those of the source.
struct TransferredModel: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The new name of an entity or property, such as 'Person=Human' or 'Person.age=years'; can be repeated.", valueName: "path=name")
    )
    var rename: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            The new type of an attribute, as models name it, such as 'Person.age=double'; 'double?' also makes the attribute optional; can be \
            repeated.
            """, valueName: "path=type"))
    var type: [String] = []

    func validate() throws { _ = try mapping() }

    /// Returns the mapping of the names and types.
    func mapping() throws -> TransferMapping {
        var mapping = TransferMapping()
        for text in rename {
            let (path, name) = try Self.parts(text, "--rename", "'Person.age=years'")
            if mapping.renames.updateValue(name, forKey: path) != nil { throw ValidationError("--rename has two names for \(path)") }
        }
        for text in type {
            let (path, name) = try Self.parts(text, "--type", "'Person.age=double'")
            let type: TransferMapping.AttributeType
            do throws(StorageError) { type = try TransferMapping.AttributeType(parsing: name) } catch {
                throw ValidationError("--type '\(text.excerpt())': \(error.message)")
            }
            if mapping.types.updateValue(type, forKey: path) != nil { throw ValidationError("--type has two types for \(path)") }
        }
        return mapping
    }

    private static func parts(_ text: String, _ option: String, _ example: String) throws -> (path: String, value: String) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw ValidationError("\(option) '\(text.excerpt())' needs a path of the source, = and what it becomes: \(example)")
        }
        return (parts[0], parts[1])
    }
}
