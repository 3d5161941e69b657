// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

document.addEventListener('keydown', () => parent.reached.push('a key in the frame'));
