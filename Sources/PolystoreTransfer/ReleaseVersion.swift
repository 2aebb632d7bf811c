/// The version of the package, which the command line and the library for other languages print.
package enum ReleaseVersion {
    package static let text = "0.1.0"
}
