package dev.versiongate;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Runs a file of scenarios against a real server: the head of Tests/Clients/against_server.py says how. */
final class ScenarioProgram implements Scenario.Server {
    private final String address;
    private final PrintStream out = new PrintStream(System.out, true, "UTF-8");
    private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private boolean isReachable;

    private ScenarioProgram(String address) throws Exception {
        this.address = address;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            System.err.println("usage: ScenarioProgram SERVER FILE");
            System.exit(2);
        }
        String text = new String(Files.readAllBytes(Paths.get(arguments[1])), StandardCharsets.UTF_8);
        System.exit(new ScenarioProgram(arguments[0]).run(new JSONArray(text)) ? 0 : 1);
    }

    private boolean run(JSONArray scenarios) throws Exception {
        boolean isRight = true;
        for (int index = 0; index < scenarios.length(); index++) {
            JSONObject scenario = scenarios.getJSONObject(index);
            JSONObject result = new JSONObject().put("result", scenario.getString("name"));
            isReachable = false;
            try {
                Scenario.run(scenario, this);
                result.put("ok", true);
            } catch (Scenario.Difference error) {
                isRight = false;
                result.put("ok", false).put("step", error.step).put("why", error.getMessage());
            }
            out.println(result);
        }
        out.println(new JSONObject().put("done", scenarios.length()));
        return isRight;
    }

    /** Writes a line, and returns the one that comes back. */
    private String tell(JSONObject line) throws Exception {
        out.println(line);
        String answer = in.readLine();
        if (answer == null) {
            throw new EOFException("standard input has ended");
        }
        return answer;
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public VersionGate.Transport transport() {
        return null;
    }

    @Override
    public void app(String scenarioThatBegins, JSONObject app) throws Exception {
        tell(new JSONObject().put("scenario", scenarioThatBegins).put("app", app));
    }

    @Override
    public void answer(JSONObject answer) throws Exception {
        isReachable = !answer.optString("fails").equals("unreachable");
        tell(new JSONObject().put("answer", answer));
    }

    @Override
    public JSONArray requests(boolean asked) throws Exception {
        JSONObject checked = new JSONObject().put("asked", asked);
        JSONArray requests = new JSONObject(tell(new JSONObject().put("checked", checked))).getJSONArray("requests");
        return isReachable || requests.length() > 0 ? requests : null;
    }
}
