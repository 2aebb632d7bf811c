extension StringProtocol {
    /// Returns the text in a form that is safe to repeat in an error: its first `most` scalars, followed by an ellipsis if there are more.
    /// Scalars that would move or hide text on a terminal are escaped.
    package func excerpt(_ most: Int = 60) -> String {
        var result = ""
        for scalar in unicodeScalars.prefix(most) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.dropFirst(most).isEmpty ? result : result + "…"
    }
}
