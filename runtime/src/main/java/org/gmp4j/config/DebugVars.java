// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;

import org.gmp4j.struct.ProcessFlag;
import org.jspecify.annotations.Nullable;

/**
 * The settings of GMPDEBUG, Go's GODEBUG: {@code schedtrace=1000,scheddetail=1}.
 *
 * @param schedtrace the interval at which a line about the scheduler is printed, ms; 0 is off
 * @param scheddetail with schedtrace: print every P, M and G as well
 * @param stall the least time between two stalls that are printed, ms; 0 is off
 * @param metrics the address at which metrics are served by HTTP; null for none
 * @param jmx register a bean at the start
 * @param jfr record JFR's events from the start
 * @param invariants check the runtime's invariants periodically, and at each stop of the world
 * @param traceback the output of a fatal error and of an uncaught exception in program mode, and the way the process ends
 * @param asyncpreemptoff a running goroutine yields only when it calls the runtime
 * @param createsites record the place where each goroutine was started
 * @param trace a file for an execution trace, until the JVM ends; empty is off
 * @param dashboard the port of the live page at the loopback address; -1 for no page
 * @param deadlock the condition under which a deadlock is reported when all goroutines are asleep
 */
public record DebugVars(int schedtrace, boolean scheddetail, int stall, @Nullable InetSocketAddress metrics, boolean jmx, boolean jfr,
        boolean invariants, Level traceback, boolean asyncpreemptoff, boolean createsites, String trace, int dashboard, Deadlock deadlock) {
    /** Go's GOTRACEBACK. */
    public enum Level {
        /** For a fatal error all goroutines; for an uncaught exception only its goroutine. */
        SINGLE,
        /** All goroutines. */
        ALL,
        /** All goroutines with the runtime's frames, and the state of all Ps, Ms and Gs. */
        SYSTEM,
        /** Like SYSTEM, and the process ends by SIGABRT, which leaves a core file where the system makes them. */
        CRASH
    }

    /** The condition under which a deadlock is reported, if detection is on. */
    public enum Deadlock {
        /** No other thread, hook or handler of the process could make a goroutine ready. */
        USUAL,
        /** Like USUAL, and a line on stderr names the thread, hook or handler that delays a report. */
        SHOW,
        /** No other thread is in a blocking call of the runtime. */
        STRICT
    }

    /** Returns whether frames of the runtime are shown too. */
    public boolean system() {
        return traceback.compareTo(Level.SYSTEM) >= 0;
    }

    /** The settings of an empty GMPDEBUG. */
    public static final DebugVars OFF = new Reader().settings();

    private static final String KNOWN = "known are schedtrace=MILLISECONDS, scheddetail=0 or 1, stall=MILLISECONDS, "
            + "metrics=PORT or HOST:PORT, jmx=0 or 1, jfr=0 or 1, invariants=0 or 1, traceback=single, all, system or crash, "
            + "asyncpreemptoff=0 or 1, createsites=0 or 1, trace=FILE, dashboard=PORT, deadlock=show or strict, "
            + "lockrank=0 or 1, and checkptr=0 or 1.";
    private static final int MOST_PORT = 65_535;

    /** Collects settings while they are read. */
    private static final class Reader {
        private int schedtrace;
        private boolean scheddetail;
        private int stall;
        private @Nullable InetSocketAddress metrics;
        private boolean jmx;
        private boolean jfr;
        private boolean invariants;
        private Level traceback = Level.SINGLE;
        private boolean asyncpreemptoff;
        private boolean createsites;
        private String trace = "";
        private int dashboard = -1;
        private Deadlock deadlock = Deadlock.USUAL;

        void read(String key, String value) {
            switch (key) {
                case "schedtrace" -> schedtrace = number(key, value, Integer.MAX_VALUE);
                case "scheddetail" -> scheddetail = flag(key, value);
                case "stall" -> stall = number(key, value, Integer.MAX_VALUE);
                case "metrics" -> metrics = address(value);
                case "jmx" -> jmx = flag(key, value);
                case "jfr" -> jfr = flag(key, value);
                case "invariants" -> invariants = flag(key, value);
                case "traceback" -> traceback = level(value);
                case "asyncpreemptoff" -> asyncpreemptoff = flag(key, value);
                case "createsites" -> createsites = flag(key, value);
                case "trace" -> trace = value;
                case "dashboard" -> dashboard = number(key, value, MOST_PORT);
                case "deadlock" -> deadlock = deadlock(value);
                case "lockrank", "checkptr" -> {
                    if (flag(key, value) && !ProcessFlag.isSet(key)) {
                        throw new IllegalArgumentException("GMPDEBUG: " + key + " holds for the whole process: set it by the variable "
                                + "GMPDEBUG or by -Dgmp.debug=" + key + "=1");
                    }
                }
                default -> throw new IllegalArgumentException("GMPDEBUG: the key \"" + key + "\" is unknown; " + KNOWN);
            }
        }

        DebugVars settings() {
            return new DebugVars(schedtrace, scheddetail, stall, metrics, jmx, jfr, invariants, traceback, asyncpreemptoff,
                    createsites, trace, dashboard, deadlock);
        }
    }

    /**
     * Reads settings with commas between them. If a setting appears twice, the last one counts.
     *
     * @param text the settings; null or empty for none
     * @throws IllegalArgumentException with one sentence when a key is unknown or a value out of range
     */
    public static DebugVars parse(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return OFF;
        }
        Reader r = new Reader();
        for (String item : text.split(",")) {
            if (!item.isBlank()) {
                int equals = item.indexOf('=');
                r.read((equals < 0 ? item : item.substring(0, equals)).strip(),
                        equals < 0 ? "" : item.substring(equals + 1).strip());
            }
        }
        return r.settings();
    }

    private static boolean flag(String key, String value) {
        return number(key, value, 1) == 1;
    }

    private static int number(String key, String value, int max) {
        if (value.matches("[0-9]{1,10}") && Long.parseLong(value) <= max) {
            return Integer.parseInt(value);
        }
        throw new IllegalArgumentException("GMPDEBUG: " + key + " cannot be \"" + value
                + "\", only a whole number from 0 to " + max + "; " + KNOWN);
    }

    private static Level level(String value) {
        for (Level l : Level.values()) {
            if (l.name().toLowerCase(Locale.ROOT).equals(value)) {
                return l;
            }
        }
        throw new IllegalArgumentException("GMPDEBUG: traceback cannot be \"" + value + "\"; " + KNOWN);
    }

    private static Deadlock deadlock(String value) {
        return switch (value) {
            case "show" -> Deadlock.SHOW;
            case "strict" -> Deadlock.STRICT;
            default -> throw new IllegalArgumentException("GMPDEBUG: deadlock cannot be \"" + value + "\"; " + KNOWN);
        };
    }

    /** Returns these settings with {@link Deadlock#STRICT}. */
    public DebugVars withStrictDeadlocks() {
        return new DebugVars(schedtrace, scheddetail, stall, metrics, jmx, jfr, invariants, traceback, asyncpreemptoff, createsites, trace,
                dashboard, Deadlock.STRICT);
    }

    /** Reads an address: a port of the loopback address, or a host with a port. */
    private static InetSocketAddress address(String value) {
        int colon = value.lastIndexOf(':');
        String port = value.substring(colon + 1);
        if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > MOST_PORT) {
            throw new IllegalArgumentException("GMPDEBUG: metrics cannot be \"" + value + "\", only a port from 0 to " + MOST_PORT
                    + ", or a host, a colon and a port");
        }
        int n = Integer.parseInt(port);
        if (colon <= 0) {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), n);
        }
        InetSocketAddress a = new InetSocketAddress(value.substring(0, colon), n);
        if (a.isUnresolved()) {
            throw new IllegalArgumentException("GMPDEBUG: metrics names a host that is not known, \"" + a.getHostString() + "\"");
        }
        return a;
    }
}
