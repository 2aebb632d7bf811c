public import Polystore

/// CoreDataMonk's provider of a table; the target stands for the view.
public typealias TableViewDataProvider<Target: ListTarget> = ListDataProvider<Target>

/// CoreDataMonk's provider of a collection view; the target stands for the view.
public typealias CollectionViewDataProvider<Target: ListTarget> = ListDataProvider<Target>

extension ListDataProvider {
    /// A provider of the objects of a main context, in the isolation that made it.
    public convenience init(context: CoreDataMainContext) { self.init(context: context.view) }
}
