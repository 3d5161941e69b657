// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// An operator of a version range.
enum VersionComparison {
    case below
    case atMost
    case above
    case atLeast
    case equal
    case tilde
    case caret

    /// The versions that compare so to a bound.
    func interval(of bound: VersionBound) -> VersionInterval {
        switch self {
        case .below: VersionInterval(lower: .minimum, upper: bound.lower)
        case .atMost: VersionInterval(lower: .minimum, upper: bound.upper)
        case .above: VersionInterval(lower: bound.upper, upper: .maximum)
        case .atLeast: VersionInterval(lower: bound.lower, upper: .maximum)
        case .equal: bound.interval
        case .tilde: VersionInterval(lower: bound.lower, upper: bound.tildeEnd)
        case .caret: VersionInterval(lower: bound.lower, upper: bound.caretEnd)
        }
    }
}
