extension StringProtocol {
    /// The text as an error may repeat it: its first `most` scalars, with an ellipsis where more follow, and those that would move or hide
    /// what a terminal shows as escapes.
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

/// The most scalars of the sentences and key paths of errors, whatever the texts are that they name.
package enum ErrorText {
    package static let longestMessage = 1000
    package static let longestPath = 200
}
