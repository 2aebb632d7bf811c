/// The maximum number of scalars of messages and key paths in errors, regardless of the texts that they contain.
package enum ErrorText {
    package static let longestMessage = 1000
    package static let longestPath = 200
}
