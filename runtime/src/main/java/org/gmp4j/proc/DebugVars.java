package org.gmp4j.proc;

/**
 * The settings of GMPDEBUG, Go's GODEBUG: {@code schedtrace=1000,scheddetail=1}.
 *
 * @param schedtrace print a line about the scheduler every so many milliseconds; 0 is off
 * @param scheddetail with schedtrace: print every P, M and G as well
 * @param stall print goroutines that keep a P from others, at most one every so many milliseconds; 0 is off
 * @param trace a file for an execution trace, until the JVM ends; empty is off
 */
public record DebugVars(int schedtrace, boolean scheddetail, int stall, String trace) {
    /** Everything off. */
    public static final DebugVars OFF = new DebugVars(0, false, 0, "");

    private static final String KNOWN = "known are schedtrace=MILLISECONDS, scheddetail=0 or 1, stall=MILLISECONDS, and trace=FILE.";

    /**
     * Reads settings with commas between them; of one that is there twice the last counts.
     *
     * @param text null or empty is all off
     * @return the settings
     * @throws IllegalArgumentException with one sentence when a key is unknown or a value out of range
     */
    public static DebugVars parse(String text) {
        int schedtrace = 0;
        boolean scheddetail = false;
        int stall = 0;
        String trace = "";
        for (String item : text == null ? new String[0] : text.split(",")) {
            if (item.isBlank()) {
                continue;
            }
            int equals = item.indexOf('=');
            String key = (equals < 0 ? item : item.substring(0, equals)).strip();
            String value = equals < 0 ? "" : item.substring(equals + 1).strip();
            switch (key) {
                case "schedtrace" -> schedtrace = number(key, value, Integer.MAX_VALUE);
                case "scheddetail" -> scheddetail = number(key, value, 1) == 1;
                case "stall" -> stall = number(key, value, Integer.MAX_VALUE);
                case "trace" -> trace = value;
                default -> throw new IllegalArgumentException("GMPDEBUG: the key \"" + key + "\" is unknown; " + KNOWN);
            }
        }
        DebugVars v = new DebugVars(schedtrace, scheddetail, stall, trace);
        return v.equals(OFF) ? OFF : v;
    }

    private static int number(String key, String value, int max) {
        if (value.matches("[0-9]{1,10}") && Long.parseLong(value) <= max) {
            return Integer.parseInt(value);
        }
        throw new IllegalArgumentException("GMPDEBUG: " + key + " cannot be \"" + value
                + "\", only a whole number from 0 to " + max + "; " + KNOWN);
    }
}
