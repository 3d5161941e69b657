// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package android.os;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Stands in for Android's, as far as the tests need it. The device runs what is posted. */
public class Handler {
    public static final Queue<Runnable> POSTED = new ConcurrentLinkedQueue<>();
    public static final List<Runnable> DELAYED = new ArrayList<>();

    public Handler(Looper looper) {}

    public boolean post(Runnable work) {
        return POSTED.add(work);
    }

    public boolean postDelayed(Runnable work, long milliseconds) {
        return DELAYED.add(work);
    }

    public void removeCallbacks(Runnable work) {
        DELAYED.remove(work);
    }
}
