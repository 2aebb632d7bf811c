/// Numbers of things, as people read them.
enum Figures {
    /// Returns a number with a narrow space between groups of three digits.
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var text = number < 0 ? "−" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "\u{202f}" }
            text.append(digit)
        }
        return text
    }

    /// Returns a number with a noun in the right form.
    static func counted(_ number: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns a number of bytes in the largest fitting unit.
    static func size(_ bytes: Int) -> String {
        if bytes < 1024 { return counted(bytes, "byte") }
        var size = Double(bytes), unit = ""
        for next in ["KB", "MB", "GB"] where size >= 1024 {
            size /= 1024
            unit = next
        }
        let tenths = Int((size * 10).rounded())
        return tenths >= 100 || tenths % 10 == 0 ? "\(grouped((tenths + 5) / 10)) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
