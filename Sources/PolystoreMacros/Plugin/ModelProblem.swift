#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftSyntax

/// An error in a model class, with its location.
struct ModelProblem: Error {
    let node: Syntax
    let message: String

    init(_ node: some SyntaxProtocol, _ message: String) {
        self.node = Syntax(node)
        self.message = message
    }
}
#endif
