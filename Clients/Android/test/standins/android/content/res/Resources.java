package android.content.res;

/** Stands in for Android's, as far as the tests need it. */
public class Resources {
    public android.util.DisplayMetrics getDisplayMetrics() {
        return new android.util.DisplayMetrics();
    }
}
