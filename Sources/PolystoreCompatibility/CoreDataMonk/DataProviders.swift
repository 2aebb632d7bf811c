public import Polystore

/// The table data provider of CoreDataMonk. The target represents the view.
public typealias TableViewDataProvider<Target: ListTarget> = ListDataProvider<Target>

/// The collection view data provider of CoreDataMonk. The target represents the view.
public typealias CollectionViewDataProvider<Target: ListTarget> = ListDataProvider<Target>

extension ListDataProvider {
    /// Creates a provider of the objects of a main context, in the isolation of that context.
    public convenience init(context: CoreDataMainContext) { self.init(context: context.view) }
}
