// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package android.window;

/** Of API 33, which android.jar of API 23 lacks. */
public interface OnBackInvokedCallback {
    /** The person goes back. */
    void onBackInvoked();
}
