package android.window;

/** Of API 33, which android.jar of API 23 lacks. */
public interface OnBackInvokedCallback {
    /** The person goes back. */
    void onBackInvoked();
}
