/// A number of objects as part of a page.
enum CountMarkup {
    /// Returns the number, or an element that the script fills with the number at an address.
    static func text(_ count: Int?, _ address: String) -> HTML {
        if let count { return "\(Figures.grouped(count))" }
        return #"<span class="waiting" data-count="\#(address)" title="The objects are being counted.">…</span>"#
    }
}
