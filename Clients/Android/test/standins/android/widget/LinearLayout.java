package android.widget;

import android.content.Context;
import android.view.ViewGroup;

/** Stands in for Android's, as far as the tests need it. */
public class LinearLayout extends ViewGroup {
    public LinearLayout(Context context) {}

    public void setOrientation(int orientation) {}
}
