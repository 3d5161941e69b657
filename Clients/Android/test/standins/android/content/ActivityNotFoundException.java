package android.content;

/** Stands in for Android's, as far as the tests need it. */
public class ActivityNotFoundException extends RuntimeException {
    private static final long serialVersionUID = 1;
}
