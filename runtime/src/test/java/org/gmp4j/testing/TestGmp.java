// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.check.Invariants;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/** A scheduler whose test fails when a goroutine throws, or when one is left at the end. */
public final class TestGmp implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** The scheduler itself. */
    public final Gmp gmp;
    private final AtomicReference<Throwable> uncaught = new AtomicReference<>();

    private TestGmp(UnaryOperator<Gmp.Builder> settings) {
        gmp = settings.apply(Gmp.builder()).uncaught((goid, t) -> uncaught.compareAndSet(null, t)).build();
    }

    /** With so many Ps. */
    public static TestGmp procs(int n) {
        return with(b -> b.procs(n));
    }

    /** With any settings. */
    public static TestGmp with(UnaryOperator<Gmp.Builder> settings) {
        return new TestGmp(settings);
    }

    /** {@link Gmp#go}. */
    public void go(Runnable fn) {
        gmp.go(fn);
    }

    /** {@link Gmp#run}. */
    public void run(Runnable fn) {
        gmp.run(fn);
    }

    /** {@link Gmp#call}. */
    public <T> T call(Callable<T> fn) {
        try {
            return gmp.call(fn);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Yields until every other goroutine of the caller's scheduler waits or has ended. One {@code gosched} does not mean
     * that: the goroutine that ran may have lost its P on the way, its thread asleep at a safepoint or while a class was loaded. For
     * others that come to wait each on its own: it looks at one after the other, and would miss one that another wakes meanwhile.
     */
    public static void awaitOthers() {
        GStack self = GStack.current();
        do {
            Go.gosched();
        } while (!self.scheduler().slots.all(gp -> gp == self.gp() || rests(gp)));
    }

    private static boolean rests(long gp) {
        int status = GStatus.readgstatus(gp);
        return status == GStatus.GWAITING || status == GStatus.GDEAD || status == GStatus.GIDLE;
    }

    /** Runs {@code body} as a goroutine, as a plain thread and as a virtual thread of the JDK. */
    public static void everywhere(Threads.Body body) throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.call(() -> {
                try {
                    body.run();
                } catch (Throwable t) {
                    throw new AssertionError(t);
                }
                return null;
            });
        }
        new Threads().add("thread", body).run();
        Throwable[] failed = new Throwable[1];
        Thread.ofVirtual().start(() -> {
            try {
                body.run();
            } catch (Throwable t) {
                failed[0] = t;
            }
        }).join();
        if (failed[0] != null) {
            throw new AssertionError(failed[0]);
        }
    }

    /** What is behind the public face. */
    public Scheduler scheduler() {
        return call(() -> GStack.current().scheduler());
    }

    /** Every M but so many is idle, or its goroutine is, and sleeps. */
    public static void awaitAsleep(Scheduler s, int but) {
        while (Schedt.NMIDLE.getOpaque(s.sched) + Schedt.NMIDLELOCKED.get(s.sched) < Schedt.mcount(s.sched) - but
                || Stream.of(s.machines()).filter(m -> M.EXITED.get(m.mp) == 0 && M.BLOCKED.getOpaque(m.mp) == 0).count() > but) {
            Thread.onSpinWait();
        }
    }

    /** Stops the world and looks for broken invariants. */
    public void check() {
        Scheduler s = scheduler();
        List<String> broken = new java.util.ArrayList<>();
        StopTheWorld.withWorldStopped(s, () -> broken.addAll(Invariants.check(s)));
        if (!broken.isEmpty()) {
            throw new AssertionError(broken);
        }
    }

    /** Closes it; all goroutines have to end. */
    @Override
    public void close() {
        String left = gmp.close(PATIENCE);
        if (uncaught.get() != null) {
            throw new AssertionError("a goroutine threw", uncaught.get());
        }
        if (!left.isEmpty()) {
            throw new AssertionError("goroutines are left:\n" + left);
        }
    }
}
