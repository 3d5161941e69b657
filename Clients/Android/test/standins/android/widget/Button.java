package android.widget;

import android.content.Context;

/** Stands in for Android's, as far as the tests need it. */
public class Button extends TextView {
    public Button(Context context) {
        super(context);
    }
}
