public import Polystore

/// The defaults of CoreStore: the same stack and logger as those of `CoreStore`.
public enum CoreStoreDefaults {
    /// The default stack. It is created on first access, and can be replaced from any thread.
    public static var dataStack: DataStack {
        get { CoreStore.defaultStack }
        set { CoreStore.defaultStack = newValue }
    }

    /// The logger that receives all reports.
    public static var logger: any CoreStoreLogger {
        get { CoreStore.logger }
        set { CoreStore.logger = newValue }
    }
}
