package android.view;

/** Stands in for Android's, as far as the tests need it. */
public class View {
    /** Hears of a tap. */
    public interface OnClickListener {
        void onClick(View view);
    }

    public OnClickListener listener;

    public void setOnClickListener(OnClickListener listener) {
        this.listener = listener;
    }

    public void setPadding(int left, int top, int right, int bottom) {}

    public void setFitsSystemWindows(boolean fits) {}
}
