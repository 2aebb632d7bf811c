internal import ArgumentParser
internal import PolystoreStorage

/// Rules of the whole command line, for every command.
enum ArgumentRules {
    /// Refuses arguments that would be taken otherwise than they are meant.
    ///
    /// - Throws: `ValidationError` for a password, which every user of the machine could read in the list of processes, and for an option
    ///   with two values, of which only the last one would count.
    static func check(_ arguments: [String], _ tree: () throws -> CommandTree) throws {
        for argument in arguments { try refusePassword(argument) }
        let names = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("-") }.map { String($0.prefix { $0 != "=" }) }
        // The description of the commands is made only if it can matter, because that takes longer than most commands.
        // A short name is the first letter of the long one.
        let letters = Set(names.filter { !$0.hasPrefix("--") }.compactMap(\.last))
        if Set(names).count == names.count, !names.contains(where: { $0.hasPrefix("--") && letters.contains($0.dropFirst(2).first ?? "-") })
        {
            return
        }
        var seen: Set<CommandTree.Name> = []
        for option in CommandWords(arguments, in: try tree()).options where option.argument.kind == .option && !option.argument.isRepeating
        {
            if let name = option.argument.preferredName, !seen.insert(name).inserted {
                throw ValidationError("\(option.name) is given twice, and only one value can be used")
            }
        }
    }

    private static func refusePassword(_ argument: String) throws {
        let text = argument.hasPrefix("-") ? String(argument.drop { $0 != "=" }.dropFirst()) : argument
        guard let url = try? StoreURL(text), url.redacted != text else { return }
        throw ValidationError(
            """
            \(url.redacted) contains a password, which every user of this machine can read in the list of processes. Leave it out and answer the \
            question for it, set PGPASSWORD or PGPASSFILE, put the URL into an environment variable and write env:VARIABLE, or give it a name in the \
            configuration file and write @NAME
            """)
    }
}
