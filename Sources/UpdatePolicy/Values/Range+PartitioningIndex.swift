extension Range<Int> {
    /// The first index that meets a condition, which all behind it meet too, found by halving; the end where none does.
    @inline(__always)
    func partitioningIndex(where isMet: (Int) -> Bool) -> Int {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = (low &+ high) >> 1
            if isMet(middle) { high = middle } else { low = middle &+ 1 }
        }
        return low
    }
}
