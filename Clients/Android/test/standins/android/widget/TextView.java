package android.widget;

import android.content.Context;
import android.view.View;

/** Stands in for Android's, as far as the tests need it. */
public class TextView extends View {
    public CharSequence text;
    public int label;

    public TextView(Context context) {}

    public void setText(CharSequence text) {
        this.text = text;
    }

    public void setText(int label) {
        this.label = label;
    }

    public void setTextAppearance(Context context, int appearance) {}
}
