internal import PolystoreFoundation

/// Dates in the form `2013-01-01T10:00:00Z`, with as many fractional digits as necessary.
package enum ISO8601 {
    /// Returns the text of a date given in microseconds since 1970.
    package static func string(_ microseconds: Int64) -> String {
        let day = Self.floor(microseconds, 86_400_000_000)
        // The start of the first day is outside of the range.
        let rest = (microseconds % 86_400_000_000 + 86_400_000_000) % 86_400_000_000
        let (year, month, date) = civil(day)
        let seconds = rest / 1_000_000, fraction = rest % 1_000_000
        var text =
            "\(pad(year, 4))-\(pad(month, 2))-\(pad(date, 2))T\(pad(seconds / 3600, 2)):\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2))"
        if fraction > 0 {
            var digits = pad(fraction, 6)
            while digits.hasSuffix("0") { digits.removeLast() }
            text += "." + digits
        }
        return text + "Z"
    }

    /// Parses a date (`2013-01-01`) or an instant with `Z` or an offset. Returns microseconds since 1970, or nil for other texts.
    package static func microseconds(_ text: String) -> Int64? {
        var scanner = Scanner(text)
        guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2), scanner.take("-"),
            let day = scanner.digits(2),
            (1...12).contains(month), (1...31).contains(day), civil(days(year, month, day)) == (year, month, day)
        else { return nil }
        let start = days(year, month, day) * 86_400_000_000
        if scanner.isAtEnd { return start }
        guard scanner.take("T") || scanner.take(" "), let hour = scanner.digits(2), scanner.take(":"), let minute = scanner.digits(2),
            scanner.take(":"), let second = scanner.digits(2), hour < 24, minute < 60, second < 60
        else { return nil }
        var fraction: Int64 = 0
        if scanner.take(".") {
            guard let digits = scanner.fraction() else { return nil }
            fraction = digits
        }
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        return start + ((hour * 60 + minute - offset) * 60 + second) * 1_000_000 + fraction
    }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func floor(_ a: Int64, _ b: Int64) -> Int64 { a / b - (a % b < 0 ? 1 : 0) }

    /// Returns the days since 1970 of a proleptic Gregorian date (Howard Hinnant, chrono-compatible low-level date algorithms).
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = floor(y, 400)
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let z = days + 719_468
        let era = floor(z, 146_097)
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private struct Scanner {
        private let bytes: [UInt8]
        private var offset = 0

        init(_ text: String) { bytes = Array(text.utf8) }

        var isAtEnd: Bool { offset == bytes.count }

        mutating func take(_ character: Character) -> Bool {
            guard offset < bytes.count, bytes[offset] == character.asciiValue else { return false }
            offset += 1
            return true
        }

        mutating func digits(_ count: Int) -> Int64? {
            guard offset + count <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[offset..<(offset + count)] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            offset += count
            return value
        }

        /// Parses the digits after the point as microseconds. The seventh digit rounds; further digits are ignored.
        mutating func fraction() -> Int64? {
            var value: Int64 = 0, count = 0
            while offset < bytes.count, bytes[offset] >= 0x30, bytes[offset] <= 0x39 {
                if count < 6 { value = value * 10 + Int64(bytes[offset] - 0x30) }
                if count == 6, bytes[offset] >= 0x35 { value += 1 }
                count += 1
                offset += 1
            }
            guard count > 0 else { return nil }
            while count < 6 {
                value *= 10
                count += 1
            }
            return value
        }

        /// Parses a time zone and returns its offset in minutes east of UTC.
        mutating func zone() -> Int64? {
            if take("Z") || take("z") { return 0 }
            let sign: Int64 = take("+") ? 1 : (take("-") ? -1 : 0)
            guard sign != 0, let hours = digits(2) else { return nil }
            _ = take(":")
            guard let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
            return sign * (hours * 60 + minutes)
        }
    }
}
