package android.widget;

import android.content.Context;
import android.view.ViewGroup;

/** Stands in for Android's, as far as the tests need it. */
public class ScrollView extends ViewGroup {
    public ScrollView(Context context) {}

    public void setFillViewport(boolean fills) {}
}
