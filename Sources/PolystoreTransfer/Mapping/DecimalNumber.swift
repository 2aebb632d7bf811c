internal import Foundation
internal import PolystoreStorage

/// A number of any size as decimal digits.
struct DecimalNumber: Hashable {
    /// Whether it is less than zero.
    private(set) var isNegative = false
    /// The digits, without zeros at the start or the end. Zero has none.
    private(set) var digits: [UInt8] = []
    /// The power of ten by which the integer of the digits is multiplied.
    private(set) var exponent = 0

    /// Creates a number from an integer and a power of ten.
    init(_ digits: some Sequence<UInt8>, exponent: Int, isNegative: Bool) {
        self.digits = Array(digits.drop { $0 == 0 })
        let zeros = self.digits.reversed().prefix { $0 == 0 }.count
        self.digits.removeLast(zeros)
        if self.digits.isEmpty { return }
        self.isNegative = isNegative
        self.exponent = exponent + zeros
    }

    /// Parses digits with an optional sign, point and exponent; nil for other texts.
    init?(_ text: some StringProtocol) {
        var rest = Array(text.utf8)[...], digits: [UInt8] = [], exponent = 0
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        func take() -> Int {
            let taken = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            digits += taken.map { $0 - UInt8(ascii: "0") }
            rest = rest[taken.endIndex...]
            return taken.count
        }
        var count = take()
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = take()
            count += fraction
            exponent -= fraction
        }
        if count == 0 { return nil }
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            let power = String(decoding: rest.dropFirst(), as: UTF8.self)
            guard let number = Int(power), number.magnitude <= UInt(Self.greatestPower) else { return nil }
            exponent += number
            rest = []
        }
        guard rest.isEmpty else { return nil }
        self.init(digits, exponent: exponent, isNegative: isNegative)
    }

    /// Creates the number that a decimal is.
    init(_ decimal: Decimal) {
        let parts = DecimalDigits.parts(decimal)
        self.init(
            String(parts.mantissa).utf8.map { $0 - UInt8(ascii: "0") }, exponent: parts.exponent, isNegative: parts.isNegative)
    }

    /// The greatest power of ten in a text.
    private static let greatestPower = 1_000_000

    /// The position of the first digit before the point: 3 for 123.
    private var magnitude: Int { digits.count + exponent }

    /// The number as text that can be parsed.
    var text: String { (isNegative ? "-" : "") + (digits.isEmpty ? "0" : digits.map(String.init).joined() + "e\(exponent)") }

    /// Returns the number without digits below a power of ten, rounded half away from zero.
    func rounded(to power: Int) -> DecimalNumber {
        let cut = power - exponent
        if cut <= 0 { return self }
        if cut > digits.count { return DecimalNumber([], exponent: 0, isNegative: false) }
        var kept = [0] + digits.dropLast(cut)
        if digits[digits.count - cut] >= 5 {
            var position = kept.count - 1
            while kept[position] == 9 {
                kept[position] = 0
                position -= 1
            }
            kept[position] += 1
        }
        return DecimalNumber(kept, exponent: power, isNegative: isNegative)
    }

    /// The nearest integer of 64 bits.
    var integer: Int64 {
        let whole = rounded(to: 0)
        if whole.magnitude > 19 { return isNegative ? .min : .max }
        var sum: Int128 = 0
        for digit in whole.digits { sum = sum * 10 + Int128(digit) }
        for _ in 0..<(whole.digits.isEmpty ? 0 : whole.exponent) { sum *= 10 }
        return Int64(clamping: isNegative ? -sum : sum)
    }

    /// The nearest decimal; nil above the range of decimals.
    var decimal: Decimal? {
        let least = max(DecimalDigits.leastExponent, magnitude - DecimalKey.maximumDigits)
        let short = rounded(to: least)
        var mantissa: UInt128 = 0
        for digit in short.digits { mantissa = mantissa * 10 + UInt128(digit) }
        return DecimalDigits.decimal(mantissa, short.exponent, isNegative: isNegative)
    }

    /// Returns whether a finite floating-point number is this number: if this is its shortest or its full decimal form.
    ///
    /// - Parameters:
    ///   - shortest: The shortest digits that distinguish the number from others of its type.
    ///   - isWhole: Whether only the full form counts: integers beyond 2^53 would otherwise become equal to others.
    func isForm(of number: Double, shortest: String, isWhole: Bool) -> Bool {
        if !isWhole, DecimalNumber(shortest) == self { return true }
        // A number of 64 bits has at most 767 digits.
        return digits.count <= 767 && DecimalNumber(String(format: "%.766e", number)) == self
    }
}
