/// The rule of a time zone in the form of POSIX, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule: Sendable {
    /// A day of each year and a time of that day in seconds, which can lie outside of it.
    private struct Change: Sendable {
        enum Day: Sendable {
            /// The number of a day, from 1, without February 29.
            case withoutLeapDay(Int)
            /// The number of a day, from 0.
            case any(Int)
            /// A day of a week of a month. The fifth week is the last one, and Sunday is 0.
            case weekday(Int, week: Int, month: Int)
        }

        let day: Day
        let second: Int

        /// Returns the moment in seconds of local time since 1970.
        func moment(in year: Int) -> Int {
            let start = CivilDate.days(beforeYear: year)
            switch day {
            case .withoutLeapDay(let number):
                return (start + number - 1 + (CivilDate.isLeap(year) && number > 59 ? 1 : 0)) * 86_400 + second
            case .any(let number): return (start + number) * 86_400 + second
            case .weekday(let weekday, let week, let month):
                let first = start + CivilDate.days(beforeMonth: month, in: year)
                let next = start + CivilDate.days(beforeMonth: month + 1, in: year)
                // The first of January 1970 was a Thursday.
                var day = first + ((weekday - first - 4) % 7 + 7) % 7 + 7 * (week - 1)
                while day >= next { day -= 7 }
                return day * 86_400 + second
            }
        }
    }

    private let standard: Int
    private let summer: (offset: Int, start: Change, end: Change)?

    /// Creates a rule. Returns nil if the text is not one.
    init?(_ text: String) {
        var rest = Substring(text)
        guard Self.skipName(&rest), let standard = Self.time(&rest) else { return nil }
        self.standard = -standard
        if rest.isEmpty {
            summer = nil
            return
        }
        guard Self.skipName(&rest) else { return nil }
        let offset = Self.time(&rest).map { -$0 } ?? self.standard + 3600
        let parts = rest.split(separator: ",")
        guard rest.first == ",", parts.count == 2, let start = Self.change(parts[0]), let end = Self.change(parts[1]) else { return nil }
        summer = (offset, start, end)
    }

    /// Returns the difference to UTC in seconds.
    func offset(at time: Int) -> Int {
        guard let summer else { return standard }
        let year = CivilDate.year(ofSecond: time + standard)
        let start = summer.start.moment(in: year) - standard, end = summer.end.moment(in: year) - summer.offset
        // In the south the summer lasts over the turn of the year.
        let isSummer = start < end ? start <= time && time < end : !(end <= time && time < start)
        return isSummer ? summer.offset : standard
    }

    /// Removes a name: letters, or any text in angle brackets.
    private static func skipName(_ text: inout Substring) -> Bool {
        if text.first == "<" {
            guard let end = text.firstIndex(of: ">") else { return false }
            text = text[text.index(after: end)...]
            return true
        }
        let name = text.prefix(while: \.isLetter)
        text = text[name.endIndex...]
        return name.count >= 3
    }

    /// Removes hours, minutes and seconds with a sign.
    private static func time(_ text: inout Substring) -> Int? {
        let field = text.prefix { $0.isASCII && ($0.isNumber || "+-:".contains($0)) }
        let parts = field.drop { "+-".contains($0) }.split(separator: ":").compactMap { Int($0) }
        guard (1...3).contains(parts.count) else { return nil }
        text = text[field.endIndex...]
        let seconds = zip(parts, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
        return field.first == "-" ? -seconds : seconds
    }

    private static func change(_ text: Substring) -> Change? {
        let parts = text.split(separator: "/")
        var second = 2 * 3600
        if parts.count > 1 {
            var rest = parts[1]
            guard let time = time(&rest) else { return nil }
            second = time
        }
        guard let form = parts.first else { return nil }
        let numbers = form.drop(while: \.isLetter).split(separator: ".").compactMap { Int($0) }
        switch (form.first, numbers.count) {
        case ("M", 3) where (1...12).contains(numbers[0]) && (1...5).contains(numbers[1]):
            return Change(day: .weekday(numbers[2], week: numbers[1], month: numbers[0]), second: second)
        case ("J", 1): return Change(day: .withoutLeapDay(numbers[0]), second: second)
        case (_, 1): return Change(day: .any(numbers[0]), second: second)
        default: return nil
        }
    }
}
