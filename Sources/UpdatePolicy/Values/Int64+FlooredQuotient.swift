// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Int64 {
    /// The greatest number whose product with a positive divisor is not above this number: -1 for -1 by 7.
    package func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
