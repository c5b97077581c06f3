package org.gmp4j.proc;

import org.gmp4j.struct.Throw;

/**
 * The ends of a process: {@code throw} (the runtime is corrupt: message, every P, M and G, exit) and {@code fatal error}
 * (the program is wrong: Go's text, all stacks, exit). Exit code 2, without shutdown hooks: a broken scheduler cannot be
 * trusted to run them.
 */
public final class Fatal {
    private static final int EXIT = 2;
    private static final boolean AS_ERROR = "error".equals(System.getProperty("gmp.throw"));
    private static boolean installed;

    private Fatal() {
    }

    static synchronized void install() {
        if (!installed && !AS_ERROR) {
            installed = true;
            Throw.setHook(Fatal::thrown);
        }
    }

    private static void thrown(Throw t) {
        StringBuilder b = new StringBuilder("fatal error: ").append(t.getMessage()).append('\n');
        for (StackTraceElement e : t.getStackTrace()) {
            b.append("\tat ").append(e).append('\n');
        }
        for (Scheduler s : Scheduler.all()) {
            b.append('\n').append(unlockedTrace(s));
        }
        System.err.print(b);
        System.err.flush();
        Runtime.getRuntime().halt(EXIT);
    }

    /** The scheduler's state without its lock, which the thrower may hold. */
    private static String unlockedTrace(Scheduler s) {
        try {
            return SchedTrace.dump(s) + Traceback.all(s);
        } catch (RuntimeException | Error e) {
            return "(dump of " + s.name + " failed: " + e + ")\n";
        }
    }

    /** An exception came out of the loop of an M or of sysmon: a bug of ours. */
    static void broken(Scheduler s, Throwable t) {
        if (t instanceof Throw && AS_ERROR) {
            t.printStackTrace();
            return;
        }
        System.err.println("fatal error: exception in the scheduler");
        t.printStackTrace();
        System.err.print(unlockedTrace(s));
        Runtime.getRuntime().halt(EXIT);
    }

    /**
     * A fatal error of the program.
     *
     * @param before text before the line, with its newline; may be empty
     * @return never; typed so that callers can write throw
     */
    static Error fatal(Scheduler s, String before, String message) {
        System.err.print(before + "fatal error: " + message + "\n\n" + Traceback.all(s));
        System.err.flush();
        Runtime.getRuntime().halt(EXIT);
        return new Error(message);
    }
}
