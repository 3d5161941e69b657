package android.os;

/** Stands in for Android's, as far as the tests need it. */
public class Looper {
    public static Looper getMainLooper() {
        return new Looper();
    }
}
