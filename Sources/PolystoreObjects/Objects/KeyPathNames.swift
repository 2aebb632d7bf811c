internal import Foundation

/// The names of the properties along a key path, for errors.
///
/// On Linux the description of a key path has the address of each accessor instead of a name. The symbol at this address is in the symbol
/// table of the program, unless the table was stripped.
enum KeyPathNames {
    /// Returns the names along a key path, such as `owner.isOpen`, or nil if they are not known.
    static func names(of keyPath: AnyKeyPath) -> String? {
        let description = keyPath.debugDescription
        let accessors = description.matches(of: #/<computed 0x([0-9a-f]+) /#).compactMap { UInt($0.1, radix: 16) }
        if accessors.isEmpty {
            guard !description.contains("<"), let dot = description.firstIndex(of: ".") else { return nil }
            return String(description[description.index(after: dot)...].filter { $0 != "?" && $0 != "!" })
        }
        if description.contains("<offset ") { return nil }
        var names: [String] = []
        for accessor in accessors {
            guard let name = name(ofAccessorAt: accessor) else { return nil }
            names.append(name)
        }
        return names.joined(separator: ".")
    }

    /// Returns the name of the property whose accessor is at an address.
    private static func name(ofAccessorAt address: UInt) -> String? {
        guard let (path, start) = file(at: address), let data = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        else { return nil }
        let symbols = data.withUnsafeBytes { SymbolTable($0).symbols(at: UInt64(address), loadedAt: UInt64(start)) }
        // A linker can give one address to functions with the same instructions.
        let names = Set(symbols.compactMap(property(ofAccessor:)))
        return names.count == 1 ? names.first : nil
    }

    /// Returns the file that is mapped at an address, and the first address at which it is mapped.
    private static func file(at address: UInt) -> (path: String, start: UInt)? {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return nil }
        var starts: [Substring: UInt] = [:]
        for line in maps.split(separator: "\n") {
            // Start and end, access, offset, device, node, and the path, which may contain spaces.
            let parts = line.split(separator: " ", maxSplits: 5)
            let range = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard parts.count == 6, range.count == 2 else { continue }
            let path = parts[5].drop { $0 == " " }, start = starts[path] ?? range[0]
            starts[path] = start
            if range[0] <= address, address < range[1] { return (String(path), start) }
        }
        return nil
    }

    /// Returns the name of a property from the symbol of its accessor for key paths.
    private static func property(ofAccessor symbol: String) -> String? {
        guard symbol.hasPrefix("$s"), symbol.contains("TK"), let text = demangled(symbol) else { return nil }
        // "key path getter for Shop.Person.isOpen : Swift.Bool : Shop.Person", for a private one "Shop.Person.(isOpen in _1F…)".
        let introduction = "key path getter for "
        guard text.hasPrefix(introduction), let end = text.firstRange(of: " : ") else { return nil }
        let path = text[..<end.lowerBound].dropFirst(introduction.count)
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
