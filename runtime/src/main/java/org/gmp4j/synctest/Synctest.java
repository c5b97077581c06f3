// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.synctest;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.timer.TimeBubble;

/**
 * Tests of concurrent code with a virtual clock. A time limit in such a test is exact, and takes no real time.
 *
 * <pre>{@code
 * @Test
 * void timesOut() {
 *     Synctest.test(() -> {
 *         Context ctx = Context.background().withTimeout(Duration.ofHours(5));
 *         Go.sleep(Duration.ofHours(5).minusNanos(1));
 *         Synctest.await();
 *         assertNull(ctx.err());
 *         Go.sleep(Duration.ofNanos(1));
 *         Synctest.await();
 *         assertSame(Context.DEADLINE_EXCEEDED, ctx.err());
 *     });
 * }
 * }</pre>
 *
 * <p>{@link #test} runs a function in a bubble. A bubble consists of the goroutine that runs the function, and of all goroutines that a
 * goroutine of the bubble starts by {@code Go.go}, {@code WaitGroup.go}, {@code Time.afterFunc} and {@code Context}. In the bubble
 * {@code Go.sleep}, {@code org.gmp4j.time} and {@code org.gmp4j.context} go by the bubble's clock, and {@link #now} reads it.
 * {@code Instant.now} and {@code System.nanoTime} do not. The clock begins at 2000-01-01T00:00:00Z and stands still while any goroutine of
 * the bubble runs. When all are durably blocked, it jumps to the next timer or sleep. Once the first goroutine has ended, the clock does
 * not move on. The other goroutines must then end without a wait for the clock. Otherwise they are reported as blocked for ever.
 *
 * <p>A goroutine is durably blocked in a wait that another goroutine of the bubble ends: a channel operation, a select, a sleep, a wait for
 * a WaitGroup, Cond or Semaphore, and {@link #await}. A wait for a lock, or on a channel that was made outside the bubble, is durable only
 * if it has a limit of time. A wait in the JDK, for the network or in a system call is never durable. During a wait that is not durable the
 * clock stands still, even if a select also waits for a timer.
 *
 * <p>Only goroutines of the bubble may use a channel or a timer that was made in the bubble, because the clock does not wait for other
 * callers. Other callers get an {@link IllegalStateException}, such as "send on synctest channel from outside bubble" or "stop of synctest
 * timer from outside bubble". A cancel from outside also throws an IllegalStateException if the channel of the context, or of a context
 * below it, was made in the bubble.
 *
 * <p>Any thread may call {@link #test}. It waits for the bubble, and an interrupt does not end that wait. Only goroutines of a bubble may
 * call {@link #await} and {@link #now}.
 */
public final class Synctest {
    private Synctest() {
    }

    /**
     * Runs {@code f} in a new bubble and waits until all goroutines in it have ended. If a goroutine throws an exception, this method
     * rethrows the exception at once. The other goroutines and their threads are left behind, wherever they run or wait.
     *
     * <p>Any thread may call it, except from inside a bubble. An interrupt does not end the wait for the bubble, and the interrupt status
     * is set afterwards.
     *
     * @throws IllegalStateException "deadlock: all goroutines in bubble are blocked", or "deadlock: main bubble goroutine has exited
     *         but blocked goroutines remain", with their stacks; they and their threads are left behind
     */
    public static void test(Runnable f) {
        Objects.requireNonNull(f, "f");
        if (TimeBubble.current() != null) {
            throw new IllegalStateException("synctest.Run called from within a synctest bubble");
        }
        GStack.checkAll(); // Once the bubble is started, this thread must wait for it, which needs stack.
        Throwable[] thrown = new Throwable[1];
        Thread driver = Thread.ofPlatform().name("synctest").unstarted(() -> {
            try {
                drive(f);
            } catch (Throwable t) {
                thrown[0] = t;
            }
        });
        driver.start();
        join(driver);
        if (thrown[0] != null) {
            throw JdkThreads.sneaky(thrown[0]);
        }
    }

    private static void drive(Runnable f) {
        Gmp gmp = Gmp.builder().build();
        TimeBubble b = new TimeBubble();
        gmp.go(b.wrap(() -> {
            Go.defer(b::mainEnds);
            f.run();
        }));
        b.drive();
        if (b.failure() != null) {
            gmp.close(Duration.ZERO); // Other goroutines may wait for the one that failed, so this does not wait for them.
            throw JdkThreads.sneaky(b.failure());
        }
        if (b.deadlocked()) {
            throw new IllegalStateException((b.mainEnded()
                    ? "deadlock: main bubble goroutine has exited but blocked goroutines remain"
                    : "deadlock: all goroutines in bubble are blocked") + "\n\n" + gmp.dump());
        }
        gmp.close();
        b.close();
    }

    private static void join(Thread t) {
        boolean interrupted = false;
        boolean deep = GStack.pinIfDeep();
        try {
            while (t.isAlive()) {
                try {
                    t.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (deep) {
                JdkThreads.unpin();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Waits until every other goroutine of the bubble is durably blocked. The clock does not move meanwhile. The actions of these
     * goroutines happen before the return.
     *
     * <p>Only goroutines of a bubble may call it, no other threads. An interrupt does not end this wait.
     *
     * @throws IllegalStateException "goroutine is not in a bubble", or "wait already in progress" when another goroutine is in this call
     */
    public static void await() {
        TimeBubble b = bubble();
        if (!b.await()) {
            throw new IllegalStateException("wait already in progress");
        }
    }

    /**
     * Returns the time of the bubble's clock.
     *
     * @throws IllegalStateException "goroutine is not in a bubble"
     */
    public static Instant now() {
        TimeBubble _ = bubble();
        return TimeBubble.instant();
    }

    private static TimeBubble bubble() {
        TimeBubble b = TimeBubble.current();
        if (b == null) {
            throw new IllegalStateException("goroutine is not in a bubble");
        }
        return b;
    }
}
