package android.content;

import android.net.Uri;

/** Stands in for Android's, as far as the tests need it. */
public class Intent {
    public static final String ACTION_VIEW = "android.intent.action.VIEW";

    public final Class<?> target;
    public final Uri address;
    public int flags;

    public Intent(Context context, Class<?> target) {
        this.target = target;
        address = null;
    }

    public Intent(String action, Uri address) {
        target = null;
        this.address = address;
    }

    public Intent addFlags(int added) {
        flags |= added;
        return this;
    }
}
