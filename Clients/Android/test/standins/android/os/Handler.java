package android.os;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Stands in for Android's, as far as the tests need it. The device runs what is posted. */
public class Handler {
    public static final Queue<Runnable> POSTED = new ConcurrentLinkedQueue<>();
    /** What is to be run when so many milliseconds are over. */
    public static final Map<Runnable, Long> DELAYED = new LinkedHashMap<>();

    public Handler(Looper looper) {}

    public boolean post(Runnable work) {
        return POSTED.add(work);
    }

    public boolean postDelayed(Runnable work, long milliseconds) {
        DELAYED.put(work, milliseconds);
        return true;
    }

    public void removeCallbacks(Runnable work) {
        DELAYED.remove(work);
    }
}
