// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package java.lang.invoke;

/** javac looks for it where there is a lambda; tools of Android replace it. */
public class MethodType {}
