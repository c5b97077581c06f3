// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.print.Frames;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;

/**
 * A CPU profile: looks at intervals which goroutine each M runs, and where. On a thread of its own, from {@link #start} to {@link #stop}.
 *
 * <p>A goroutine is seen where it next comes to a safepoint of the JVM, not where it was: a loop's body shows at its end, and inlined code
 * may show at its caller. A thread that the system has taken from its CPU counts as if it ran.
 */
public final class CpuSampler {
    /** A place, with the goroutine's labels. */
    public record Place(List<StackTraceElement> frames, Map<String, String> labels) {
    }

    private final Scheduler s;
    private final long interval;
    private final Map<Place, LongAdder> found = new ConcurrentHashMap<>();
    private final Thread thread = new OwnThread(this::loop, "gmp-cpuprofile");
    private volatile boolean over;

    /** Samples a scheduler every {@code interval} ns. */
    public CpuSampler(Scheduler s, long interval) {
        this.s = s;
        this.interval = interval;
        thread.setDaemon(true);
    }

    /** Begins. */
    public void start() {
        thread.start();
    }

    /** Ends; returns when nobody looks any more. */
    public void stop() {
        over = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join(TimeUnit.SECONDS.toMillis(1));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** How many times a goroutine was seen at each place until now. */
    public Map<Place, LongAdder> found() {
        return found;
    }

    private void loop() {
        long next = System.nanoTime();
        while (!over && !s.isStopped()) {
            next += interval;
            for (long left = next - System.nanoTime(); left > 0 && !over; left = next - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            List<Thread> running = new ArrayList<>();
            List<GStack> stacks = new ArrayList<>();
            for (Machine m : s.machines()) {
                look(m, running, stacks);
            }
            for (int i = 0; i < running.size(); i++) {
                StackTraceElement[] all = running.get(i).getStackTrace();
                GStack st = stacks.get(i);
                if (all.length != 0) {
                    Map<String, String> labels = st.labels();
                    Place p = new Place(Frames.users(all, s.config.debug().system()), labels == null ? Map.of() : labels);
                    found.computeIfAbsent(p, k -> new LongAdder()).increment();
                }
            }
            next = Math.max(next, System.nanoTime() - interval); // What was missed is not made up for.
        }
    }

    /** Structs of Ms and Gs are never unmapped: what is read may be old, and then shows what ran a moment ago. */
    private void look(Machine m, List<Thread> running, List<GStack> stacks) {
        long gp = M.CURG.getOpaque(m.mp);
        if (gp != 0 && (GStatus.readgstatus(gp) & ~GStatus.GSCAN) == GStatus.GRUNNING && G.GOID.get(gp) != 0
                && GSlots.stack(gp) instanceof GStack st && st.scheduler() == s && st.thread != Thread.currentThread()) {
            running.add(st.thread);
            stacks.add(st);
        }
    }
}
