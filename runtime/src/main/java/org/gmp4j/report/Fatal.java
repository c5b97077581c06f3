// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.gmp4j.config.DebugVars;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.Signals;
import org.gmp4j.print.Stderr;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Throw;
import org.jspecify.annotations.Nullable;

/**
 * Ends the process with a report and exit code 2. For {@code throw} (the runtime is corrupt) it prints the message, every P, M and G, and
 * all stacks. For {@code fatal error} (the program is wrong) it prints Go's text and all stacks. Shutdown hooks do not run, because a
 * broken scheduler might not run them to the end. Only the first report is made. Other threads that report wait for the process to end.
 *
 * <p>A dump of stacks may hang: the JDK reads a virtual thread's stack only between two switches, and a broken M may never finish a switch.
 * So the parts that need no stack are printed first, and a guarding thread ends the process when the dump makes no progress. A report that
 * runs out of memory is cut short.
 */
public final class Fatal {
    private static final int EXIT = 2;
    /** The time, ms, after which the reading of one stack counts as hung. */
    private static final long DUMP_MILLIS = 10_000;
    /** The number of attempts at a report that needs heap. The pause between two attempts is {@link #REPORT_PAUSE_NANOS}. */
    private static final int REPORT_TRIES = 20;
    private static final int RESERVE = 64 << 10;
    private static final long REPORT_PAUSE_NANOS = 50_000_000;
    private static final AtomicReference<@Nullable Thread> REPORTER = new AtomicReference<>();
    private static final boolean AS_ERROR = "error".equals(System.getProperty("gmp.throw"));
    /** This text and the next one are made while there is memory. */
    private static final byte[] OUT_OF_MEMORY = Stderr.bytes("fatal error: out of memory in the scheduler\n");
    private static final byte[] UNGUARDED = Stderr.bytes("gmp4j: a report without stacks: no thread to guard it\n");
    /** Memory that is freed for a report when the heap is full. */
    private static byte @Nullable [] reserve = new byte[RESERVE];
    private static boolean installed;
    /** The number of printed stacks. Written by the reporting thread. */
    private static volatile int printed;
    /** The objects to save at the end. Any thread may add and remove objects. */
    private static final Set<Unsaved> UNSAVED = ConcurrentHashMap.newKeySet();
    /** The object that is being saved; null for none. Written by the reporting thread. */
    private static volatile @Nullable Unsaved saving;

    /** An object that is saved to a file when a fatal error or an uncaught exception of the program ends the process. */
    public interface Unsaved {
        /**
         * Writes the file. Called on a thread of its own. The call may hang if the scheduler cannot stop the world: see {@link #isWriting}.
         */
        void save();

        /**
         * Returns whether {@link #save} has finished its use of the scheduler, and only writes to the disk. If so, the process waits for it
         * without a time limit.
         */
        boolean isWriting();
    }

    private Fatal() {
    }

    static synchronized void install() {
        if (!installed && !AS_ERROR) {
            Throw.setHook(new OnThrow());
            // The two uses below come early, because each needs memory the first time, and a report may have none.
            boolean _ = REPORTER.compareAndSet(null, null);
            try {
                Class<?> _ = Class.forName("java.lang.Shutdown", true, null); // Runtime.halt uses it.
            } catch (ClassNotFoundException e) {
                Thread.onSpinWait(); // A JDK without that class halts in another way, which is not prepared here.
            }
            installed = true;
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

    /** Prints Ps, Ms and Gs. Does not take sched.lock, because the caller may hold it. */
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
                printed++; // Only the reporting thread writes it.
            });
        } catch (RuntimeException | Error e) {
            Stderr.print("(stacks of " + s.name() + " failed: " + e + ")\n");
        }
    }

    /**
     * Makes the calling thread the reporter. Called before anything is printed. Returns only on the thread of the first caller, which then
     * always halts the process.
     *
     * @return false when the report itself calls this, because a part of it failed. The caller then throws an exception, which
     *     {@link #state} or {@link #stacks} catches
     */
    private static boolean report() {
        Thread me = Thread.currentThread();
        if (REPORTER.compareAndSet(null, me)) {
            return true;
        }
        while (REPORTER.get() != me) {
            LockSupport.park();
        }
        return false;
    }

    /**
     * Starts the thread that ends the process if the report hangs. Returns false when it cannot start; the report must then read no stack.
     */
    private static boolean guard() {
        try {
            new OwnThread(Fatal::haltSoon, "gmp-halt").start();
            return true;
        } catch (RuntimeException | Error e) {
            Stderr.write(UNGUARDED); // The error to report may itself be a lack of threads or memory.
            return false;
        }
    }

    private static void haltSoon() {
        try {
            for (int seen = -1; seen != printed || isWriting(); Thread.sleep(DUMP_MILLIS)) {
                seen = printed;
            }
        } catch (InterruptedException e) {
            // No code has a reference to this thread, so no code interrupts it.
        } finally {
            halt();
        }
    }

    /** Registers an object to save if a fatal error or an uncaught exception ends the program. */
    public static void saveAtEnd(Unsaved u) {
        boolean _ = UNSAVED.add(u);
    }

    /** Removes an object that {@link #saveAtEnd} has registered. */
    public static void saved(Unsaved u) {
        boolean _ = UNSAVED.remove(u);
    }

    /** Returns whether the object that is being saved is writing to the disk. */
    private static boolean isWriting() {
        Unsaved u = saving;
        return u != null && u.isWriting();
    }

    /** Saves the registered objects. Called after the report. If a save hangs, the thread of {@link #guard} ends the process. */
    private static void save() {
        try {
            for (Unsaved u : UNSAVED) {
                saving = u;
                Thread t = new OwnThread(u::save, "gmp-save");
                t.start();
                OwnThread.joinUninterruptibly(t);
                saving = null;
            }
        } catch (RuntimeException | Error e) {
            Stderr.print("(a trace was not saved: " + e + ")\n");
        }
    }

    private static DebugVars.Level level(Scheduler s) {
        return s.config.debug().traceback();
    }

    /** Does the additional work of traceback=system and traceback=crash. */
    private static void more(Scheduler s) {
        if (level(s).compareTo(DebugVars.Level.SYSTEM) >= 0) {
            state(s);
        }
        if (level(s) == DebugVars.Level.CRASH) {
            Signals.send(OsThread.gettid(), Signals.SIGABRT); // The JVM has no handler for SIGABRT.
        }
    }

    /**
     * Prints {@code t} with its stack. If there is too little memory for the report, waits and tries again, because other threads may free
     * some.
     */
    private static void whenThereIsMemory(Throwable t) {
        reserve = null;
        for (int i = 0; i < REPORT_TRIES; i++) {
            try {
                Stderr.print("in thread " + Thread.currentThread().getName() + "\n"); // The JVM may not have recorded the stack.
                Stderr.print(t);
                return;
            } catch (OutOfMemoryError again) {
                LockSupport.parkNanos(REPORT_PAUSE_NANOS);
            }
        }
    }

    /**
     * Prints the text for an exception of a goroutine, and tries again when there is no memory. It does not sleep between attempts, because
     * on the goroutine's stack a pause needs memory for a timer.
     */
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
                Thread.onSpinWait(); // A collection of the heap has to free some memory. See install.
            }
        }
    }

    /** Ends the process because an exception left the loop of an M or of sysmon, which is a bug of the runtime. */
    public static void broken(Scheduler s, Throwable t) {
        if (t instanceof Throw && AS_ERROR) {
            t.printStackTrace();
            return;
        }
        if (report()) {
            try {
                if (t instanceof OutOfMemoryError) {
                    Stderr.write(OUT_OF_MEMORY);
                    if (ThrowableText.isHeap(t)) { // The report needs heap and time. While it is made, other threads fail.
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
     * Reports a fatal error of the program and ends the process.
     *
     * @param before text to print before the line of the error, including its newline; may be empty
     * @return never. The type lets callers write {@code throw}
     */
    static Error fatal(Scheduler s, String before, String message) {
        if (report()) {
            s.setPanicking(); // Without this, main could end the process with another exit code before the report.
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
     * Handles misuse that is fatal in Go. Ends the process if the caller is in program mode, and otherwise returns an exception. A thread
     * that is not a goroutine counts as in program mode while a program runs in this process. Must not be called inside
     * {@link GStack#enter}.
     *
     * @return the exception for the caller to throw
     */
    public static IllegalStateException misuse(String message) {
        misuseBy(GStack.current(), message);
        return new IllegalStateException(message);
    }

    /**
     * Handles misuse like {@link #misuse}, when the call has already returned because it left its work to another thread. In embedded mode
     * this does nothing, because no caller could catch an exception.
     *
     * @param by the caller's stack; null if the caller is not a goroutine
     */
    public static void misuseBy(@Nullable GStack by, String message) {
        for (Scheduler s : by == null ? Scheduler.live() : new Scheduler[] {by.scheduler()}) {
            if (s.config.program() && !s.mainReturned()) {
                throw fatal(s, "", message);
            }
        }
    }

    /**
     * Ends the program because an exception ended a goroutine of {@code s} in program mode, on the stack {@code st}. Prints the exception
     * and, with traceback=all, the stacks of all goroutines. If there is no memory for the text, it prints a line that says so, and still
     * ends the program.
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
