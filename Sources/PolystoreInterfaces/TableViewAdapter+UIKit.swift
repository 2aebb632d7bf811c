// Not compiled by the project's CI

#if canImport(UIKit) && !os(watchOS)
public import Polystore
public import UIKit

/// The data source of a table view that shows a list and updates it from one snapshot to the next.
///
/// The view does not retain its data source, so the program must retain the adapter.
@MainActor public final class TableViewAdapter<Object: ManagedObject>: NSObject, UITableViewDataSource {
    private let driver: ListTargetDriver<TableViewTarget<Object>>
    private let makeCell: (UITableView, IndexPath, ObjectID<Object>) -> UITableViewCell

    /// Creates an adapter that becomes the data source of a view. `cell` returns the cell of an object.
    public init(
        _ tableView: UITableView, changeLimit: Int? = nil,
        cell: @escaping (UITableView, IndexPath, ObjectID<Object>) -> UITableViewCell
    ) {
        driver = ListTargetDriver(TableViewTarget(tableView), changeLimit: changeLimit)
        makeCell = cell
        super.init()
        tableView.dataSource = self
    }

    /// The shown snapshot.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Shows a snapshot in the view.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// Returns the number of sections of the list.
    public func numberOfSections(in tableView: UITableView) -> Int { snapshot.numberOfSections }

    /// Returns the number of objects in a section.
    public func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
        snapshot.items(inSectionAt: section)?.count ?? 0
    }

    /// Returns the name of a section; nil for a list without sections.
    public func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? {
        snapshot.items(inSectionAt: section).flatMap { $0.name.isEmpty ? nil : $0.name }
    }

    /// Returns the cell of an object.
    public func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        snapshot[safeIndexPath: indexPath].map { makeCell(tableView, indexPath, $0) } ?? UITableViewCell()
    }
}
#endif
