package android.app;

import android.content.Context;
import android.content.DialogInterface;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Stands in for Android's, as far as the tests need it. */
public class AlertDialog extends Dialog {
    /** All that are on the screen. */
    public static final List<AlertDialog> SHOWN = new ArrayList<>();

    public Context owner;
    public CharSequence title;
    public CharSequence message;
    public final Map<Integer, OnClickListener> buttons = new LinkedHashMap<>();
    private OnCancelListener cancelListener;

    @Override
    public void dismiss() {
        SHOWN.remove(this);
    }

    /** The person goes back, or taps beside it. */
    public void cancel() {
        dismiss();
        cancelListener.onCancel(this);
    }

    public void press(int label) {
        dismiss();
        buttons.get(label).onClick(this, 0);
    }

    /** Makes one. */
    public static class Builder {
        private final AlertDialog dialog = new AlertDialog();

        public Builder(Context context) {
            dialog.owner = context;
        }

        public Builder setTitle(CharSequence title) {
            dialog.title = title;
            return this;
        }

        public Builder setMessage(CharSequence message) {
            dialog.message = message;
            return this;
        }

        public Builder setPositiveButton(int label, DialogInterface.OnClickListener listener) {
            dialog.buttons.put(label, listener);
            return this;
        }

        public Builder setNegativeButton(int label, DialogInterface.OnClickListener listener) {
            return setPositiveButton(label, listener);
        }

        public Builder setNeutralButton(int label, DialogInterface.OnClickListener listener) {
            return setPositiveButton(label, listener);
        }

        public Builder setOnCancelListener(DialogInterface.OnCancelListener listener) {
            dialog.cancelListener = listener;
            return this;
        }

        public AlertDialog show() {
            SHOWN.add(dialog);
            return dialog;
        }
    }
}
