// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestRandom

extension SeededGenerator {
    /// One of the elements, or `nil` where the chance of so many percent fails.
    mutating func pick<Element>(_ elements: [Element], chance percent: Int) -> Element? {
        chance(percent) ? pick(elements) : nil
    }

    /// One to so many different elements; `nil` where the chance of so many percent fails.
    mutating func some<Element>(_ elements: [Element], upTo most: Int, chance percent: Int) -> [Element]? {
        chance(percent) ? some(elements, upTo: most) : nil
    }
}
