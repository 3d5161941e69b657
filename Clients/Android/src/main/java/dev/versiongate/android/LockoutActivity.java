package dev.versiongate.android;

import android.app.Activity;
import android.os.Build;
import android.os.Bundle;
import android.util.TypedValue;
import android.view.View;
import android.view.ViewGroup;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;
import android.window.OnBackInvokedDispatcher;
import dev.versiongate.VersionGate;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Covers the app as long as it is locked out. {@link GateScreens} starts and ends it, and starts it again over each other
 * activity of the app that shows up meanwhile. After the end of the process it is empty until a check has ended.
 */
@NullMarked
public final class LockoutActivity extends Activity {
    private static final int PADDING = 24;
    private static final int BACK_IS_CALLED = 33;

    private @Nullable LinearLayout content;
    private @Nullable List<@Nullable String> shown;

    @Override
    protected void onCreate(@Nullable Bundle state) {
        super.onCreate(state);
        LinearLayout content = new LinearLayout(this);
        content.setOrientation(LinearLayout.VERTICAL);
        int padding = (int) TypedValue.applyDimension(
            TypedValue.COMPLEX_UNIT_DIP, PADDING, getResources().getDisplayMetrics());
        content.setPadding(padding, padding, padding, padding);
        ScrollView scroll = new ScrollView(this);
        // Keeps clear of the bars of the system.
        scroll.setFitsSystemWindows(true);
        scroll.setFillViewport(true);
        scroll.addView(content);
        setContentView(scroll);
        this.content = content;
        if (Build.VERSION.SDK_INT >= BACK_IS_CALLED) {
            Back.ignore(this);
        }
    }

    /** Shows the lockout, or ends if there is none. */
    void show(VersionGate.@Nullable Message lockout, Runnable open, Runnable tryAgain) {
        if (lockout == null) {
            finish();
            return;
        }
        LinearLayout content = this.content;
        List<@Nullable String> said = Arrays.asList(lockout.title, lockout.text, lockout.link);
        if (content == null || said.equals(shown)) {
            return;
        }
        shown = said;
        setTitle(lockout.title);
        content.removeAllViews();
        add(content, text(lockout.title, android.R.style.TextAppearance_Material_Headline));
        add(content, text(lockout.text, android.R.style.TextAppearance_Material_Body1));
        if (lockout.link != null) {
            add(content, button(R.string.versiongate_update, open));
        }
        add(content, button(R.string.versiongate_try_again, tryAgain));
    }

    private TextView text(String string, int appearance) {
        TextView text = new TextView(this);
        // Up to API 22 there is no other way.
        setAppearance(text, appearance);
        text.setText(string);
        return text;
    }

    @SuppressWarnings("deprecation")
    private void setAppearance(TextView text, int appearance) {
        text.setTextAppearance(this, appearance);
    }

    private Button button(int label, Runnable action) {
        Button button = new Button(this);
        button.setText(label);
        button.setOnClickListener(view -> action.run());
        return button;
    }

    private static void add(LinearLayout content, View view) {
        content.addView(view, ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT);
    }

    /** Stays. */
    @Override
    @SuppressWarnings("deprecation")
    public void onBackPressed() {}

    /** What is known from API 33 on, in a class that older systems do not load. */
    private static final class Back {
        /** Where the app has asked for it, the system calls this instead of {@link Activity#onBackPressed}. */
        static void ignore(Activity activity) {
            try {
                Object dispatcher = Activity.class.getMethod("getOnBackInvokedDispatcher").invoke(activity);
                ((OnBackInvokedDispatcher) dispatcher)
                    .registerOnBackInvokedCallback(OnBackInvokedDispatcher.PRIORITY_OVERLAY, () -> {});
            } catch (ReflectiveOperationException error) {
                // Who goes back meets the lockout above the next activity.
            }
        }
    }
}
