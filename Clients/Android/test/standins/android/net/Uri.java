package android.net;

/** Stands in for Android's, as far as the tests need it. */
public class Uri {
    public final String text;

    private Uri(String text) {
        this.text = text;
    }

    public static Uri parse(String text) {
        return new Uri(text);
    }
}
