// Not compiled by the project's CI

#if canImport(SwiftUI)
public import Polystore
public import SwiftUI

private struct DataStackKey: EnvironmentKey {
    static let defaultValue: DataStack? = nil
}

extension EnvironmentValues {
    /// The stack of the views.
    public var dataStack: DataStack? {
        get { self[DataStackKey.self] }
        set { self[DataStackKey.self] = newValue }
    }
}

extension View {
    /// Sets the stack of the view and its subviews: `@Environment(\.dataStack)`.
    public func dataStackEnvironment(_ stack: DataStack) -> some View { environment(\.dataStack, stack) }
}
#endif
