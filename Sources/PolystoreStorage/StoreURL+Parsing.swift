internal import PolystoreFoundation

extension StoreURL {
    /// The schemes of stores in files, for which the place of a URL is a path.
    package static let fileSchemes: Set<String> = ["sqlite", "lmdb", "file"]

    /// Parses a store URL such as `memory:`, `sqlite:shop.db`, `lmdb:shop.lmdb?mapsize=8GiB`, or
    /// `postgresql://app@db/shop?sslmode=verify-full`. `env:NAME` stands for the value of an environment variable, which keeps passwords
    /// out of process lists.
    ///
    /// - Throws: `invalidConfiguration`, whose message states what is wrong.
    public init(_ text: String) throws(StorageError) {
        if text.hasPrefix("env:") {
            let name = String(text.dropFirst(4))
            guard let value = ProcessInfo.processInfo.environment[name], !value.hasPrefix("env:") else {
                throw StorageError(.invalidConfiguration, "the environment variable \(name.excerpt()) is not set to a store URL")
            }
            try self.init(value)
            return
        }
        guard let colon = text.firstIndex(of: ":"), Self.isScheme(text[..<colon]) else {
            throw StorageError(
                .invalidConfiguration,
                "a store URL begins with a scheme, as in sqlite:shop.db, lmdb:shop.lmdb, memory: or postgresql://host/db")
        }
        let written = text[..<colon].lowercased()
        let rest = text[text.index(after: colon)...]
        if written == "postgresql" || written == "postgres" {
            try self.init(server: rest, text)
        } else {
            try self.init(file: rest, written, text)
        }
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (first | 0x20) >= 0x61, (first | 0x20) <= 0x7a, text.count > 1 else { return false }
        return text.utf8.allSatisfy { byte in
            (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) || byte == 0x2b || byte == 0x2d
                || byte == 0x2e
        }
    }

    /// Passes every option to libpq unchanged, except for Polystore's own `x-` options.
    private init(server rest: Substring, _ text: String) throws(StorageError) {
        guard rest.hasPrefix("//") else {
            throw StorageError(.invalidConfiguration, "a PostgreSQL URL has the form postgresql://user@host:port/database?options")
        }
        let (path, query) = Self.split(rest)
        var options: [Option] = [], foreign: [Substring] = []
        for part in query {
            if part.hasPrefix("x-") { options.append(try Self.option(part)) } else { foreign.append(part) }
        }
        let place = "postgresql:" + path + (foreign.isEmpty ? "" : "?" + foreign.joined(separator: "&"))
        self.init(scheme: "postgresql", place: place, options: options, text: text)
    }

    private init(file rest: Substring, _ scheme: String, _ text: String) throws(StorageError) {
        var (path, query) = Self.split(rest)
        if Self.fileSchemes.contains(scheme), path.hasPrefix("//") {
            guard path.hasPrefix("///") else {
                throw StorageError(
                    .invalidConfiguration,
                    "\(scheme.excerpt())://… names a host, which these stores do not have; write \(scheme.excerpt()):path for a relative "
                        + "or \(scheme.excerpt()):/path for an absolute path"
                )
            }
            path = String(path.dropFirst(2))
        }
        guard let decoded = PercentEncoding.decoded(path) else {
            throw StorageError(.invalidConfiguration, "the path of the store URL contains an invalid percent escape; write % as %25")
        }
        // The engines' C libraries would truncate the path at the U+0000 and open another file.
        if decoded.utf8.contains(0) { throw StorageError(.invalidConfiguration, "the path of the store URL contains U+0000; remove it") }
        // Foundation would expand the tilde and the engines would not, so they would refer to two different files.
        if Self.fileSchemes.contains(scheme), decoded.hasPrefix("~") { throw StorageError.unexpandedTilde }
        var options: [Option] = []
        for part in query { options.append(try Self.option(part)) }
        self.init(scheme: scheme, place: decoded, options: options, text: text)
    }

    private static func split(_ rest: Substring) -> (String, [Substring]) {
        guard let mark = rest.firstIndex(of: "?") else { return (String(rest), []) }
        return (String(rest[..<mark]), rest[rest.index(after: mark)...].split(separator: "&"))
    }

    private static func option(_ part: Substring) throws(StorageError) -> Option {
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, let value = PercentEncoding.decoded(pair[1]) else {
            throw StorageError(.invalidConfiguration, "the option \"\(pair[0].excerpt())\" of the store URL needs a value: name=value")
        }
        return Option(name: String(pair[0]), value: value)
    }

    /// Returns the value of an option, or nil.
    public func option(_ name: String) -> String? { options.last { $0.name == name }?.value }

    /// Refuses options that a store does not support.
    ///
    /// - Throws: `invalidConfiguration`, which names the option and the nearest known one.
    public func unknownOptions(allowed: [String]) throws(StorageError) {
        for option in options where !allowed.contains(option.name) {
            let known = allowed.isEmpty ? "they have no options" : "their options are \(allowed.joined(separator: ", "))"
            throw StorageError(
                .invalidConfiguration,
                "\(scheme): stores have no option \"\(option.name.excerpt())\" (\(known))\(Suggestion.nearest(option.name, in: allowed))"
            )
        }
    }

    /// Returns the durability that the options request, `full` by default.
    public func durability(option name: String = "durability") throws(StorageError) -> Durability {
        guard let text = option(name) else { return .full }
        guard let durability = Durability(rawValue: text) else {
            throw StorageError(.invalidConfiguration, "the option \(name) must be full or relaxed")
        }
        return durability
    }

    /// The text of the URL with the password replaced by `***`.
    public var redacted: String {
        guard let start = text.firstRange(of: "://") else { return text }
        let rest = text[start.upperBound...], authority = rest.prefix { $0 != "/" }
        // A misspelt scheme is no reason to show a password, but in paths a colon and an @ have no meaning.
        let isServer = scheme == "postgresql"
        // A question mark without the name of an option is a part of a password that should have been encoded.
        let options = rest.firstRange(of: #/\?[^?@\/:=&]*=/#)?.lowerBound ?? rest.endIndex
        let mark = isServer ? options : authority.endIndex
        // A password that contains a slash is not well-formed, but it is still a password.
        var address = String(rest[..<mark])
        if let at = address.lastIndex(of: "@"), let colon = address[..<at].firstIndex(of: ":") {
            address.replaceSubrange(address.index(after: colon)..<at, with: "***")
        }
        if !isServer { return text[..<start.upperBound] + address + rest[mark...] }
        var shown: [String] = [], isSecret = false
        for option in rest[mark...].split(separator: "&", omittingEmptySubsequences: false) {
            // A part without a name belongs to the value before it.
            guard let sign = option.firstIndex(of: "=") else {
                shown.append(isSecret ? "***" : String(option))
                continue
            }
            let name = PercentEncoding.decoded(option[..<sign])?.lowercased()
            isSecret = name.map { $0.hasSuffix("password") || $0.hasSuffix("secret") } ?? true
            shown.append(isSecret ? option[...sign] + "***" : String(option))
        }
        return text[..<start.upperBound] + address + shown.joined(separator: "&")
    }
}

extension StorageError {
    /// The error for the path of a store that begins with a tilde.
    package static let unexpandedTilde = StorageError(
        .invalidConfiguration, "~ at the beginning of a path is only expanded by a shell; write the full path, or ./~")
}

extension StoreURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text without the password.
    public var description: String { redacted }
    /// The text without the password.
    public var debugDescription: String { redacted }
    /// A mirror without children, so that `dump` does not print the password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
