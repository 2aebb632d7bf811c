internal import PolystoreFoundation
internal import Synchronization

/// The names of the properties along a key path, for errors.
///
/// On Linux the description of a key path has the address of each accessor instead of a name. The symbol at this address is in the symbol
/// table of the program, unless the table was stripped.
enum KeyPathNames {
    /// The names by address of the accessor, which are found once: a table can have a million symbols.
    private static let known = Mutex<[UInt: String?]>([:])

    /// Returns the names along a key path, such as `owner.isOpen`, or nil if they are not known.
    static func names(of keyPath: AnyKeyPath) -> String? {
        let description = keyPath.debugDescription, root = "\\\(type(of: keyPath).rootType)"
        guard description.hasPrefix(root) else { return nil }
        var rest = description.dropFirst(root.count), names: [String] = []
        while let first = rest.first {
            rest = rest.dropFirst()
            if first == "?" || first == "!" { continue }
            guard first == ".", let name = Self.name(atStartOf: &rest) else { return nil }
            names.append(name)
        }
        return names.isEmpty ? nil : names.joined(separator: ".")
    }

    /// Removes a component, `name` or `<computed 0x5f3a (Bool)>`, and returns its name.
    private static func name(atStartOf text: inout Substring) -> String? {
        if let accessor = text.prefixMatch(of: #/<computed 0x([0-9a-f]+) \(/#) {
            guard let address = UInt(accessor.1, radix: 16), let end = end(ofType: text[accessor.range.upperBound...]) else { return nil }
            text = text[end...]
            guard text.first == ">" else { return nil }
            text = text.dropFirst()
            return known.withLock { names -> String? in
                if let name = names[address] { return name }
                let name = Self.name(ofAccessorAt: address)
                names[address] = .some(name)
                return name
            }
        }
        let name = text.prefix { !".?!<".contains($0) }
        text = text[name.endIndex...]
        return name.isEmpty || text.first == "<" ? nil : String(name)
    }

    /// Returns the end of a type behind its opening parenthesis. The type may contain parentheses as well.
    private static func end(ofType text: Substring) -> String.Index? {
        var depth = 1
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text.index(after: index) }
        }
        return nil
    }

    /// Returns the name of the property whose accessor is at an address.
    private static func name(ofAccessorAt address: UInt) -> String? {
        guard let (path, offset) = file(at: address), let data = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        else { return nil }
        let symbols = data.withUnsafeBytes { SymbolTable($0).symbols(ofCodeAt: offset) }
        // A linker can give one address to functions with the same instructions.
        let names = Set(symbols.compactMap(property(ofAccessor:)))
        return names.count == 1 ? names.first : nil
    }

    /// Returns the file that is mapped at an address, and the position of the address in it.
    static func file(at address: UInt) -> (path: String, offset: UInt64)? {
        guard let maps = try? RegularFile.data("/proc/self/maps") else { return nil }
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            // Start and end, access, offset, device, node, and the path, which may contain spaces.
            let parts = line.split(separator: " ", maxSplits: 5)
            let range = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard parts.count == 6, range.count == 2, range[0] <= address, address < range[1], let offset = UInt64(parts[2], radix: 16)
            else { continue }
            return (String(parts[5].drop { $0 == " " }), offset + UInt64(address - range[0]))
        }
        return nil
    }

    /// Returns the name of a property from the symbol of its accessor for key paths.
    static func property(ofAccessor symbol: String) -> String? {
        guard symbol.hasPrefix("$s"), symbol.contains("TK"), let text = demangled(symbol) else { return nil }
        // "key path getter for Shop.Person.isOpen : Swift.Bool : Shop.Person", for a private one "Shop.Person.(isOpen in _1F…)".
        let introduction = "key path getter for "
        guard text.hasPrefix(introduction), let end = text.firstRange(of: " : ") else { return nil }
        let path = text[..<end.lowerBound].dropFirst(introduction.count)
        // The name of a subscript would be followed by its parameters; a name in backticks may contain any character.
        if path.contains(#/(?:^|[.(])subscript(?:<| in |\()/#) || path.contains("`") { return nil }
        guard let name = path.split(separator: ".").last?.split(separator: " ").first else { return nil }
        return name.hasPrefix("(") ? String(name.dropFirst()) : String(name)
    }

    private static func demangled(_ symbol: String) -> String? {
        guard let text = swiftDemangle(symbol, UInt(symbol.utf8.count), nil, nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

/// The function of Swift's runtime that returns the declaration of a symbol in memory that the caller frees.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ symbol: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?, _ size: UnsafeMutablePointer<UInt>?,
    _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
