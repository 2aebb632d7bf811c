/// The words of a command line: those that name the command, its options with their values, and its other arguments.
struct CommandWords {
    /// An option, as it is written.
    struct Option {
        let name: String
        let argument: CommandTree.Argument
        let value: String?
    }

    /// The names of the command and its parents, without the program.
    private(set) var path: [String] = []
    private(set) var command: CommandTree
    private(set) var options: [Option] = []
    private(set) var arguments: [String] = []
    /// The option whose value is missing at the end.
    private(set) var open: Option?

    /// Divides the words after the name of the program.
    init(_ words: [String], in tree: CommandTree) {
        command = tree
        var rest = words[...]
        while let name = rest.first, let next = command.subcommand(name) {
            path.append(name)
            command = next
            rest = rest.dropFirst()
        }
        if let name = command.defaultSubcommand, let next = command.subcommand(name) { command = next }
        while let word = rest.popFirst() {
            if word == "--" {
                arguments += rest
                return
            }
            guard word.hasPrefix("-"), word != "-" else {
                arguments.append(word)
                continue
            }
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let argument = command.option(sides[0]) else { continue }
            var value = sides.count == 2 ? sides[1] : nil
            if value == nil, argument.kind == .option {
                value = rest.popFirst()
                if value == nil { open = Option(name: sides[0], argument: argument, value: nil) }
            }
            options.append(Option(name: sides[0], argument: argument, value: value))
        }
    }
}
