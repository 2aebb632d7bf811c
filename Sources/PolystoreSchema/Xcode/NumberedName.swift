/// A name that is ordered by the numbers in it: "Shop 2" is before "Shop 10".
struct NumberedName: Comparable {
    let name: String

    static func < (one: NumberedName, other: NumberedName) -> Bool {
        var a = one.name.utf8[...], b = other.name.utf8[...]
        while let first = a.first, let second = b.first {
            if isDigit(first), isDigit(second) {
                let number = Self.number(&a), other = Self.number(&b)
                if !number.elementsEqual(other) {
                    return number.count == other.count ? number.lexicographicallyPrecedes(other) : number.count < other.count
                }
            } else {
                if first != second { return first < second }
                a.removeFirst()
                b.removeFirst()
            }
        }
        if a.isEmpty != b.isEmpty { return a.isEmpty }
        // Names such as "Shop 2" and "Shop 02".
        return one.name.compareUTF8(to: other.name) < 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Removes the digits at the start of a text, and returns those without leading zeros.
    private static func number(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
