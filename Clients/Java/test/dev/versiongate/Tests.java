package dev.versiongate;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.json.JSONArray;
import org.json.JSONObject;

/** Runs all tests. Ends with status 1 if one fails. */
final class Tests {
    interface Test {
        void run() throws Exception;
    }

    private static final int ATTEMPTS = 5;
    private static int passed;
    private static int failed;

    private Tests() {}

    public static void main(String[] arguments) throws Exception {
        scenarios(new File(arguments[0]));
        LibraryTests.run();
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    /**
     * Runs a test, and says its name if it fails. One that fails after a second or more runs again: on a busy machine the time
     * of a check, or of its storage, may have been over.
     */
    static void test(String name, Test test) {
        test(name, test, 1);
    }

    private static void test(String name, Test test, int attempt) {
        long start = System.nanoTime();
        try {
            test.run();
            passed++;
        } catch (Throwable error) {
            if (attempt < ATTEMPTS && System.nanoTime() - start >= TimeUnit.SECONDS.toNanos(1)) {
                System.out.println("again: " + name + ": " + error.getMessage());
                test(name, test, attempt + 1);
                return;
            }
            failed++;
            System.out.println("FAILED: " + name + ": " + error.getMessage());
            if (!(error instanceof AssertionError)) {
                error.printStackTrace(System.out);
            }
        }
    }

    static void expect(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    static void expect(Object actual, Object expected) {
        expect(expected.equals(actual), "expected " + expected + ", got " + actual);
    }

    private static void scenarios(File folder) throws Exception {
        File[] files = folder.listFiles((parent, name) -> name.endsWith(".json"));
        expect(files != null && files.length > 0, "there are no scenarios in " + folder);
        Arrays.sort(files);
        for (File file : files) {
            JSONArray scenarios = new JSONArray(new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8));
            expect(scenarios.length() > 0, "there are no scenarios in " + file);
            for (int index = 0; index < scenarios.length(); index++) {
                JSONObject scenario = scenarios.getJSONObject(index);
                test(file.getName() + ": " + scenario.getString("name"), () -> {
                    try {
                        Scenario.run(scenario, new Scenario.FakeServer());
                    } catch (Scenario.Difference error) {
                        throw new AssertionError("step " + error.step + ": " + error.getMessage(), error);
                    }
                });
            }
        }
    }
}
