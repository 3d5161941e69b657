package android.view;

import java.util.ArrayList;
import java.util.List;

/** Stands in for Android's, as far as the tests need it. */
public class ViewGroup extends View {
    public final List<View> views = new ArrayList<>();

    public void addView(View view) {
        views.add(view);
    }

    public void addView(View view, int width, int height) {
        views.add(view);
    }

    public void removeAllViews() {
        views.clear();
    }
}
