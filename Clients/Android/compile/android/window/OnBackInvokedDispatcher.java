package android.window;

/** Of API 33, which android.jar of API 23 lacks. */
public interface OnBackInvokedDispatcher {
    /** Before all others. */
    int PRIORITY_OVERLAY = 1_000_000;

    /** Calls back in the order of priorities. */
    void registerOnBackInvokedCallback(int priority, OnBackInvokedCallback callback);
}
