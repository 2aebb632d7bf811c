#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftSyntax

/// An error in a model class, with its location.
struct ModelProblem: Error {
    let node: Syntax
    let message: String
    /// A change of the text that solves the problem.
    var repair: Repair?

    /// The replacement of a part of the text.
    struct Repair {
        let old: Syntax
        let new: Syntax
        let message: String
    }

    init(_ node: some SyntaxProtocol, _ message: String, repair: Repair? = nil) {
        self.node = Syntax(node)
        self.message = message
        self.repair = repair
    }
}
#endif
