// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.gmp4j.config.DebugVars;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.Signals;
import org.gmp4j.print.Stderr;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Throw;
import org.jspecify.annotations.Nullable;

/**
 * The ends of a process: {@code throw} (the runtime is corrupt: message, every P, M and G, exit) and {@code fatal error}
 * (the program is wrong: Go's text, all stacks, exit). Exit code 2, without shutdown hooks: a broken scheduler cannot be
 * trusted to run them. The first report is the only one; a thread that comes second waits for the end.
 *
 * <p>A dump may hang: the JDK reads a virtual thread's stack only between two switches, and waits for the end of a
 * switch that a broken M never finishes. So what needs no stack is printed first, and a guarding thread ends the process when the
 * rest makes no progress. A report may also run out of memory: then it is cut short.
 */
public final class Fatal {
    private static final int EXIT = 2;
    /** If a stack takes longer than this it is taken to hang. */
    private static final long DUMP_MILLIS = 10_000;
    /** How often a report that needs heap is tried, and the pauses between. */
    private static final int REPORT_TRIES = 20;
    private static final int RESERVE = 64 << 10;
    private static final long REPORT_PAUSE_NANOS = 50_000_000;
    private static final AtomicReference<@Nullable Thread> REPORTER = new AtomicReference<>();
    private static final boolean AS_ERROR = "error".equals(System.getProperty("gmp.throw"));
    /** Made while there is memory. */
    private static final byte[] OUT_OF_MEMORY = Stderr.bytes("fatal error: out of memory in the scheduler\n");
    private static final byte[] UNGUARDED = Stderr.bytes("gmp4j: a report without stacks: no thread to guard it\n");
    /** For a report when the heap is full. */
    private static byte @Nullable [] reserve = new byte[RESERVE];
    private static boolean installed;
    /** How many stacks were printed; written by the reporter. */
    private static volatile int printed;
    /** Added to and taken from by any thread. */
    private static final Queue<Unsaved> UNSAVED = new ConcurrentLinkedQueue<>();
    /** Which of them is being saved, null for none; written by the reporter. */
    private static volatile @Nullable Unsaved saving;

    /** Something that is to be in a file before the process ends with a fatal error or an uncaught exception of the program. */
    public interface Unsaved {
        /** Writes it; on a thread of its own. May hang where the scheduler cannot stop the world: see {@link #isWriting}. */
        void save();

        /** Whether it no longer needs a scheduler, only the disk: then the process waits for it without a limit of time. */
        boolean isWriting();
    }

    private Fatal() {
    }

    static synchronized void install() {
        if (!installed && !AS_ERROR) {
            installed = true;
            Throw.setHook(new OnThrow());
            // What needs memory when it is first used: then there may be none.
            boolean _ = REPORTER.compareAndSet(null, null);
            try {
                Class<?> _ = Class.forName("java.lang.Shutdown", true, null); // Of Runtime.halt.
            } catch (ClassNotFoundException e) {
                return; // A JDK without that class halts in another way, which is not prepared.
            }
        }
    }

    private static final class OnThrow implements Consumer<Throw> {
        @Override
        public void accept(Throw t) {
            thrown(t);
        }
    }

    private static void thrown(Throw t) {
        if (report()) {
            try {
                print(t);
            } finally {
                halt();
            }
        }
    }

    private static void print(Throw t) {
        boolean guarded = guard();
        StringBuilder b = new StringBuilder("fatal error: ").append(t.getMessage()).append('\n');
        for (StackTraceElement e : t.getStackTrace()) {
            b.append("\tat ").append(e).append('\n');
        }
        Stderr.print(b.toString());
        Scheduler.all().forEach(Fatal::state);
        if (guarded) {
            Scheduler.all().forEach(Fatal::stacks);
        }
    }

    /** Ps, Ms and Gs, without sched.lock, which the caller may hold. */
    private static void state(Scheduler s) {
        try {
            Stderr.print("\n" + SchedTrace.dump(s));
        } catch (RuntimeException | Error e) {
            Stderr.print("(dump of " + s.name() + " failed: " + e + ")\n");
        }
    }

    private static void stacks(Scheduler s) {
        try {
            Traceback.each(s, text -> {
                Stderr.print("\n" + text);
                printed++; // By the reporter alone.
            });
        } catch (RuntimeException | Error e) {
            Stderr.print("(stacks of " + s.name() + " failed: " + e + ")\n");
        }
    }

    /**
     * Before anything is printed: returns on the first caller's thread only, which then halts the process whatever happens.
     *
     * @return false when called by the report itself, which failed: the caller throws, into {@link #state} or {@link #stacks}
     */
    private static boolean report() {
        Thread me = Thread.currentThread();
        if (!REPORTER.compareAndSet(null, me)) {
            while (REPORTER.get() != me) {
                LockSupport.park();
            }
            return false;
        }
        return true;
    }

    /** Sees to it that the process ends even if the report hangs. False when that fails: then no stack may be read. */
    private static boolean guard() {
        try {
            Thread t = new OwnThread(Fatal::haltSoon, "gmp-halt");
            t.start();
            return true;
        } catch (RuntimeException | Error e) {
            Stderr.write(UNGUARDED); // What we report may be that threads or memory have run out.
            return false;
        }
    }

    private static void haltSoon() {
        try {
            for (int seen = -1; seen != printed || isWriting(); Thread.sleep(DUMP_MILLIS)) {
                seen = printed;
            }
        } catch (InterruptedException e) {
            // Nobody has a reference to this thread to interrupt it by.
        } finally {
            halt();
        }
    }

    /** From now on {@code u} is saved if the program ends here. */
    public static void saveAtEnd(Unsaved u) {
        boolean _ = UNSAVED.add(u);
    }

    /** Ends {@link #saveAtEnd}. */
    public static void saved(Unsaved u) {
        boolean _ = UNSAVED.remove(u);
    }

    /** Only of the one that is being saved: another may have ended while it wrote. */
    private static boolean isWriting() {
        Unsaved u = saving;
        return u != null && u.isWriting();
    }

    /** After the report, while {@link #guard} ends a save that hangs. */
    private static void save() {
        try {
            for (Unsaved u : UNSAVED) {
                saving = u;
                Thread t = new OwnThread(u::save, "gmp-save");
                t.start();
                while (t.isAlive()) {
                    join(t);
                }
                saving = null;
            }
        } catch (RuntimeException | Error e) {
            Stderr.print("(a trace was not saved: " + e + ")\n");
        }
    }

    private static void join(Thread t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            Thread.onSpinWait(); // It is waited for all the same: the process ends after that.
        }
    }

    private static DebugVars.Level level(Scheduler s) {
        return s.config.debug().traceback();
    }

    /** Does what traceback=system and crash do in addition. */
    private static void more(Scheduler s) {
        if (level(s).compareTo(DebugVars.Level.SYSTEM) >= 0) {
            state(s);
        }
        if (level(s) == DebugVars.Level.CRASH) {
            Signals.send(OsThread.gettid(), Signals.SIGABRT); // The JVM has no handler for it.
        }
    }

    /** Prints {@code t} with its stack; waits for memory that the report needs, which other threads may give back. */
    private static void whenThereIsMemory(Throwable t) {
        reserve = null;
        for (int i = 0; i < REPORT_TRIES; i++) {
            try {
                Stderr.print("in thread " + Thread.currentThread().getName() + "\n"); // Its stack the JVM may not have kept.
                Stderr.print(t);
                return;
            } catch (OutOfMemoryError again) {
                LockSupport.parkNanos(REPORT_PAUSE_NANOS);
            }
        }
    }

    /** On the goroutine's stack, where a pause would need memory for its timer. */
    private static void tell(GStack st, Throwable t) {
        try {
            Stderr.print(Uncaught.text(st, t));
        } catch (OutOfMemoryError e) {
            Stderr.write(Uncaught.NO_REPORT);
            reserve = null;
            Stderr.print(Uncaught.text(st, t));
        }
    }

    private static void halt() {
        for (;;) {
            try {
                Runtime.getRuntime().halt(EXIT);
            } catch (Error e) {
                Thread.onSpinWait(); // There is no memory until a collection has found some. See install.
            }
        }
    }

    /** An exception came out of the loop of an M or of sysmon: a bug of ours. */
    public static void broken(Scheduler s, Throwable t) {
        if (t instanceof Throw && AS_ERROR) {
            t.printStackTrace();
            return;
        }
        if (report()) {
            try {
                if (t instanceof OutOfMemoryError) {
                    Stderr.write(OUT_OF_MEMORY);
                    if (ThrowableText.isHeap(t)) { // The rest needs heap, and takes time in which other threads fail.
                        whenThereIsMemory(t);
                        return;
                    }
                }
                boolean guarded = guard();
                Stderr.print("fatal error: exception in the scheduler\n");
                Stderr.print(t);
                state(s);
                if (guarded) {
                    stacks(s);
                }
            } finally {
                halt();
            }
        }
    }

    /**
     * A fatal error of the program.
     *
     * @param before text before the line, with its newline; may be empty
     * @return never; typed so that callers can write throw
     */
    static Error fatal(Scheduler s, String before, String message) {
        if (report()) {
            s.setPanicking(); // Main would end the process, with another exit code, before the report.
            try {
                boolean guarded = guard();
                Stderr.print(before + "fatal error: " + message + "\n");
                if (guarded) {
                    stacks(s);
                    save();
                }
                more(s);
            } finally {
                halt();
            }
        }
        return new Error(message);
    }

    /**
     * Misuse that Go calls fatal: the end of the program when the caller belongs to program mode, an exception otherwise. A
     * thread that is no goroutine belongs to it while a program runs in this process. Not inside {@link GStack#enter}.
     *
     * @return what the caller throws
     */
    public static IllegalStateException misuse(String message) {
        misuseBy(GStack.current(), message);
        return new IllegalStateException(message);
    }

    /**
     * The same for misuse that is found after the call has returned, as it left its work to another thread. Where {@link #misuse} would
     * be an exception this returns, for nobody is there to catch one.
     *
     * @param by the caller's stack, null for a thread
     */
    public static void misuseBy(@Nullable GStack by, String message) {
        for (Scheduler s : by == null ? Scheduler.live() : new Scheduler[] {by.scheduler()}) {
            if (s.config.program() && !s.mainReturned()) {
                throw fatal(s, "", message);
            }
        }
    }

    /**
     * An exception ended a goroutine of {@code s} in program mode, on the stack {@code st}: ends the program. Prints it and, with
     * traceback=all, what all goroutines do. Without memory for the text it says so, and ends the program all the same.
     */
    static void end(Scheduler s, GStack st, Throwable t) {
        if (report()) {
            try {
                boolean guarded = guard();
                tell(st, t);
                if (guarded && level(s).compareTo(DebugVars.Level.ALL) >= 0) {
                    stacks(s);
                }
                if (guarded) {
                    save();
                }
                more(s);
            } finally {
                halt();
            }
        }
    }
}
